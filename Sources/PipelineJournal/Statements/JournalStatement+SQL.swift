extension JournalStatement {
    var jobSQL: String {
        switch self {
        case .findJob: "SELECT number FROM jobs WHERE id = ?1"
        case .readRequest: "SELECT number, request FROM jobs WHERE id = ?1"
        case .findKey: "SELECT id FROM jobs WHERE key = ?1"
        case .findDocument: "SELECT number FROM documents WHERE digest = ?1 AND source = ?2"
        case .insertDocument: "INSERT INTO documents (digest, source) VALUES (?1, ?2) RETURNING number"
        case .removeUnusedDocument:
            "DELETE FROM documents WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE document = ?1)"
        case .insertJob:
            """
            INSERT INTO jobs (id, key, pipeline, started, document, source_name, inputs, environment, document_folder,
                output_folder, overwrites, mode, request, cause, ended, owner, epoch, found_secrets)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, 1, ?17) RETURNING number
            """
        case .removeJob: "DELETE FROM jobs WHERE id = ?1 RETURNING document"
        case .takeMode: "UPDATE jobs SET mode = ?2, cause = NULL WHERE number = ?1"
        case .setRequest: "UPDATE jobs SET request = ?2 WHERE number = ?1"
        case .setCause: "UPDATE jobs SET cause = ?2, owner = NULL WHERE number = ?1"
        case .setEnded: "UPDATE jobs SET ended = ?2, owner = NULL WHERE number = ?1"
        default: "UPDATE jobs SET ended = NULL, cause = NULL, request = NULL WHERE number = ?1"
        }
    }

    var ownershipSQL: String {
        switch self {
        case .findLease: "SELECT number, owner, epoch FROM jobs WHERE id = ?1"
        case .findOwner:
            """
            SELECT jobs.number, jobs.epoch, jobs.owner, owners.boot, owners.lease_until, jobs.ended
            FROM jobs LEFT JOIN owners ON owners.id = jobs.owner WHERE jobs.id = ?1
            """
        case .takeJob: "UPDATE jobs SET owner = ?2, epoch = ?3 WHERE number = ?1"
        case .releaseJob: "UPDATE jobs SET owner = NULL WHERE id = ?1 AND owner = ?2 AND epoch = ?3"
        case .releaseAll: "UPDATE jobs SET owner = NULL WHERE owner = ?1"
        case .keepOwner:
            """
            INSERT INTO owners (id, boot, lease_until) VALUES (?1, ?2, ?3)
            ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, lease_until = excluded.lease_until
            """
        case .removeIdleOwner:
            "DELETE FROM owners WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE owner = ?1)"
        case .listOwners: "SELECT id FROM owners"
        case .listOwned: "SELECT id FROM jobs WHERE owner = ?1"
        case .listBackground:
            """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            WHERE ended IS NULL AND mode = 'background' AND (cause IS NULL OR cause NOT IN ('paused', 'interrupted'))
            ORDER BY (SELECT min(expires) FROM steps WHERE job = jobs.number AND expires > ?1) NULLS LAST, jobs.id
            """
        case .listUntold:
            """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            WHERE jobs.number IN (SELECT job FROM notifications WHERE state = 'due') ORDER BY jobs.id
            """
        default:
            """
            SELECT id FROM jobs WHERE owner = ?1 AND (request IS NOT NULL
                OR EXISTS (SELECT 1 FROM pushes WHERE job = jobs.number AND state = 'new'))
            ORDER BY id
            """
        }
    }

    /// Steps change by compare-and-set; an event is taken only as the next one of its job.
    var contentSQL: String {
        switch self {
        case .insertStep:
            """
            INSERT INTO steps (job, stage, item, state, detail, checkpoint, captures, started, ended, attempts,
                resumes, bytes_sent, bytes_received, tolerates_failure, value, version, expires)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            ON CONFLICT DO NOTHING
            """
        case .updateStep:
            """
            UPDATE steps SET state = ?4, detail = ?5, checkpoint = ?6, captures = ?7, started = ?8, ended = ?9,
                attempts = ?10, resumes = ?11, bytes_sent = ?12, bytes_received = ?13, tolerates_failure = ?14,
                value = ?15, version = ?16, expires = ?17
            WHERE job = ?1 AND stage = ?2 AND item = ?3 AND version = ?16 - 1
            """
        case .keepSubmit:
            """
            INSERT OR REPLACE INTO submits (job, stage, item, key, generation, digest, phase, sends, first_sent,
                last_sent, misses)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        case .insertPush:
            """
            INSERT INTO pushes (job, stage, item, id, time, state) VALUES (?1, ?2, ?3, ?4, ?5, 'new')
            ON CONFLICT DO NOTHING
            """
        case .takePushes:
            "UPDATE pushes SET state = 'taken' WHERE job = ?1 AND stage = ?2 AND item = ?3 AND state = 'new'"
        case .voidPushes: "UPDATE pushes SET state = 'void' WHERE job = ?1 AND stage = ?2 AND item = ?3"
        case .keepNotification:
            """
            INSERT INTO notifications (job, id, entry, event, state, due, time, title, data, failures, failing_since,
                problem)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (job, id) DO UPDATE SET state = ?5, due = ?6, time = ?7, title = ?8, data = ?9, failures = ?10,
                failing_since = ?11, problem = ?12
            WHERE state <> 'sent'
            """
        case .keepFact: "INSERT OR REPLACE INTO facts (job, kind, subject, value) VALUES (?1, ?2, ?3, ?4)"
        case .keepFile:
            """
            INSERT OR REPLACE INTO files (job, path, bytes, sha256, stage, item) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        default:
            """
            INSERT INTO events (job, sequence, time, kind, stage, item, attempt, data)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
            WHERE ?2 = 1 + (SELECT ifnull(max(sequence), 0) FROM events WHERE job = ?1)
            """
        }
    }

    var readingSQL: String {
        switch self {
        case .readJob:
            """
            SELECT jobs.number, id, key, pipeline, started, documents.digest, document, source_name, inputs,
                environment, document_folder, output_folder, overwrites, mode, request, cause, ended,
                documents.source, found_secrets
            FROM jobs JOIN documents ON documents.number = jobs.document WHERE id = ?1
            """
        case .readSteps:
            """
            SELECT stage, item, state, detail, checkpoint, captures, started, ended, attempts, resumes, bytes_sent,
                bytes_received, tolerates_failure, value, version, expires
            FROM steps WHERE job = ?1
            """
        case .readSubmits:
            """
            SELECT stage, item, key, generation, digest, phase, sends, first_sent, last_sent, misses
            FROM submits WHERE job = ?1
            """
        case .readFacts: "SELECT kind, subject, value FROM facts WHERE job = ?1"
        case .readFiles: "SELECT path, bytes, sha256, stage, item FROM files WHERE job = ?1 ORDER BY number"
        case .readPushes:
            """
            SELECT stage, item, count(*) FILTER (WHERE state = 'new'), count(*) FILTER (WHERE state = 'taken')
            FROM pushes WHERE job = ?1 AND state <> 'void' GROUP BY stage, item
            """
        case .readNotifications:
            """
            SELECT id, entry, event, state, due, time, title, data, failures, failing_since, problem
            FROM notifications WHERE job = ?1
            """
        case .listJobs: "SELECT id FROM jobs ORDER BY id"
        case .readSequence: "SELECT ifnull(max(sequence), 0) FROM events WHERE job = ?1"
        default:
            """
            SELECT sequence, time, kind, stage, item, attempt, data, jobs.pipeline
            FROM jobs JOIN events ON events.job = jobs.number
            WHERE jobs.id = ?1 AND sequence > ?2 ORDER BY sequence
            """
        }
    }
}
