import PipelineSQLite

/// The schema's history: entries are only ever added at the end, none is changed once it was released.
enum JournalMigrations {
    /// The id says "PIPE".
    static let migrator = SQLiteMigrator(
        applicationID: 0x5049_5045,
        steps: [
            .init("v1", version1), .init("background", background), .init("pushes", pushes),
            .init("notifications", notifications), .init("expiries", expiries), .init("file-steps", fileSteps),
            .init("found-secrets", foundSecrets), .init("comparisons", comparisons), .init("user-version", userVersion),
            .init("batches", batches), .init("later-causes", laterCauses),
            .init("sample-subjects", sampleSubjects),
            .init("services", services), .init("costs", costs),
            .init("overview", overview),
            .init("callback-values", callbackValues),
            .init("metrics", metrics), .init("traces", traces),
            .init("early-callbacks", earlyCallbacks), .init("readings", readings),
            .init("numbered-metrics", numberedMetrics), .init("changes-of-commits", changesOfCommits),
            .init("refused-places", refusedPlaces),
        ])

    /// The ledger of resumes and the history of stages outlive the jobs that they came from.
    private static let background = """
        CREATE TABLE resumes (
            number INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            job INTEGER REFERENCES jobs (number) ON DELETE SET NULL,
            stage TEXT,
            item INTEGER,
            reason TEXT NOT NULL CHECK (reason <> ''),
            charge TEXT NOT NULL CHECK (charge IN ('counted', 'joined', 'expedited', 'attended')),
            delay INTEGER NOT NULL CHECK (delay >= 0),
            machine_delay INTEGER NOT NULL CHECK (machine_delay >= 0),
            start INTEGER NOT NULL,
            is_unlimited INTEGER NOT NULL CHECK (is_unlimited IN (0, 1))
        ) STRICT;
        CREATE INDEX resumes_by_time ON resumes (time);
        CREATE INDEX resumes_by_job ON resumes (job) WHERE job IS NOT NULL;
        CREATE TABLE samples (
            number INTEGER PRIMARY KEY,
            pipeline TEXT NOT NULL,
            stage TEXT NOT NULL CHECK (stage <> ''),
            ended INTEGER NOT NULL,
            seconds REAL NOT NULL CHECK (seconds >= 0),
            earliest REAL NOT NULL CHECK (earliest >= 0),
            size REAL,
            polls INTEGER NOT NULL CHECK (polls >= 0),
            resumes INTEGER NOT NULL CHECK (resumes >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            p50 REAL,
            p90 REAL,
            remaining_error REAL,
            progress_error REAL
        ) STRICT;
        CREATE INDEX samples_by_stage ON samples (pipeline, stage, number);
        """

    /// Times are milliseconds since 1970; `item` is -1 for a step that is no item of a `forEach`, since NULLs would
    /// not be unique in a key. The children have no row ids: a step is found in one descent of its tree.
    private static let version1 = """
        CREATE TABLE documents (
            number INTEGER PRIMARY KEY,
            digest TEXT NOT NULL,
            source TEXT NOT NULL
        ) STRICT;
        CREATE INDEX documents_by_digest ON documents (digest);
        CREATE TABLE owners (
            id TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
            boot TEXT NOT NULL,
            lease_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE jobs (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE CHECK (id <> ''),
            key TEXT NOT NULL UNIQUE,
            pipeline TEXT NOT NULL,
            started INTEGER NOT NULL,
            document INTEGER NOT NULL REFERENCES documents (number),
            source_name TEXT NOT NULL,
            inputs TEXT NOT NULL,
            environment TEXT NOT NULL,
            document_folder TEXT NOT NULL,
            output_folder TEXT NOT NULL,
            overwrites INTEGER NOT NULL CHECK (overwrites IN (0, 1)),
            mode TEXT NOT NULL CHECK (mode IN ('attached', 'background')),
            request TEXT CHECK (request IN ('cancel', 'pause')),
            cause TEXT CHECK (cause IN ('interrupted', 'paused', 'noNetwork', 'secret')),
            ended INTEGER,
            owner TEXT REFERENCES owners (id),
            epoch INTEGER NOT NULL CHECK (epoch >= 1)
        ) STRICT;
        CREATE INDEX jobs_unfinished ON jobs (id) WHERE ended IS NULL;
        CREATE INDEX jobs_by_pipeline ON jobs (pipeline, id);
        CREATE INDEX jobs_by_document ON jobs (document);
        CREATE INDEX jobs_owned ON jobs (owner) WHERE owner IS NOT NULL;
        CREATE TABLE steps (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'waiting', 'unknown', 'succeeded', 'failed',
                'cancelled', 'skipped')),
            detail TEXT,
            checkpoint BLOB,
            captures TEXT NOT NULL,
            started INTEGER,
            ended INTEGER,
            attempts INTEGER NOT NULL CHECK (attempts >= 0),
            resumes INTEGER NOT NULL CHECK (resumes >= 0),
            bytes_sent INTEGER NOT NULL CHECK (bytes_sent >= 0),
            bytes_received INTEGER NOT NULL CHECK (bytes_received >= 0),
            tolerates_failure INTEGER NOT NULL CHECK (tolerates_failure IN (0, 1)),
            value TEXT,
            version INTEGER NOT NULL CHECK (version >= 0),
            PRIMARY KEY (job, stage, item),
            CHECK ((detail IS NULL) = (state IN ('pending', 'cancelled', 'skipped')))
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE submits (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            key TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 0),
            digest TEXT NOT NULL,
            phase TEXT NOT NULL CHECK (phase IN ('intent', 'sending', 'submitted', 'refused', 'unknown')),
            sends INTEGER NOT NULL CHECK (sends >= 0),
            first_sent INTEGER,
            last_sent INTEGER,
            misses INTEGER NOT NULL CHECK (misses >= 0),
            PRIMARY KEY (job, stage, item)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE facts (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('size', 'digest', 'text', 'jsonLines', 'now', 'uuid')),
            subject TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (job, kind, subject)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE files (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            path TEXT NOT NULL CHECK (path <> ''),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            sha256 TEXT NOT NULL,
            UNIQUE (job, path)
        ) STRICT;
        CREATE TABLE events (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            sequence INTEGER NOT NULL CHECK (sequence >= 1),
            time INTEGER NOT NULL,
            kind TEXT NOT NULL CHECK (kind <> ''),
            stage TEXT,
            item INTEGER,
            attempt INTEGER,
            data TEXT NOT NULL,
            PRIMARY KEY (job, sequence)
        ) STRICT, WITHOUT ROWID;
        """

    /// Pushes: `new` until the step was woken for it, `void` once the step began again; the row stays, so that a
    /// repetition is known.
    private static let pushes = """
        CREATE TABLE pushes (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            id TEXT NOT NULL CHECK (id <> ''),
            time INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('new', 'taken', 'void')),
            PRIMARY KEY (job, stage, item, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pushes_new ON pushes (job) WHERE state = 'new';
        """

    /// The column of what the document takes out of a callback.
    private static let callbackValues = "ALTER TABLE pushes ADD COLUMN captures TEXT"

    /// The column of what a callback is judged by that came before the submit's response was kept; null once it was
    /// judged.
    private static let earlyCallbacks = "ALTER TABLE pushes ADD COLUMN response TEXT"

    /// The table of who is to be told of what, and when. What was sent stays, so that it is not sent again.
    private static let notifications = """
        CREATE TABLE notifications (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (id <> ''),
            entry INTEGER NOT NULL CHECK (entry >= 0),
            event TEXT NOT NULL CHECK (event <> ''),
            state TEXT NOT NULL CHECK (state IN ('planned', 'due', 'sent', 'withdrawn', 'abandoned')),
            due INTEGER NOT NULL,
            time INTEGER NOT NULL,
            title TEXT NOT NULL,
            data TEXT NOT NULL,
            failures INTEGER NOT NULL CHECK (failures >= 0),
            failing_since INTEGER,
            problem TEXT,
            PRIMARY KEY (job, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notifications_due ON notifications (job) WHERE state = 'due';
        """

    /// Until when what a step has is good: journaled as must-act-before, so that whoever takes the job up knows it.
    private static let expiries = """
        ALTER TABLE steps ADD COLUMN expires INTEGER;
        """

    /// Which step wrote a file, so that the files of items are listed in the order of the items.
    private static let fileSteps = """
        ALTER TABLE files ADD COLUMN stage TEXT;
        ALTER TABLE files ADD COLUMN item INTEGER;
        """

    /// The names of the secrets that a job began with though its document can do without, a JSON array; NULL for jobs
    /// of before, of which nobody knows.
    private static let foundSecrets = """
        ALTER TABLE jobs ADD COLUMN found_secrets TEXT;
        """

    /// The same tables with the same promises. For `IN` with more than two values SQLite builds a tree in memory each time a
    /// row is checked, which cost as much as all else about the row.
    private static let comparisons = """
        CREATE TABLE new_steps (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            state TEXT NOT NULL CHECK (state = 'pending' OR state = 'running' OR state = 'waiting' OR state = 'succeeded'
                OR state = 'unknown' OR state = 'failed' OR state = 'cancelled' OR state = 'skipped'),
            detail TEXT,
            checkpoint BLOB,
            captures TEXT NOT NULL,
            started INTEGER,
            ended INTEGER,
            attempts INTEGER NOT NULL CHECK (attempts >= 0),
            resumes INTEGER NOT NULL CHECK (resumes >= 0),
            bytes_sent INTEGER NOT NULL CHECK (bytes_sent >= 0),
            bytes_received INTEGER NOT NULL CHECK (bytes_received >= 0),
            tolerates_failure INTEGER NOT NULL CHECK (tolerates_failure IN (0, 1)),
            value TEXT,
            version INTEGER NOT NULL CHECK (version >= 0),
            expires INTEGER,
            PRIMARY KEY (job, stage, item),
            CHECK ((detail IS NULL) = (state = 'pending' OR state = 'cancelled' OR state = 'skipped'))
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_steps SELECT job, stage, item, state, detail, checkpoint, captures, started, ended, attempts,
            resumes, bytes_sent, bytes_received, tolerates_failure, value, version, expires FROM steps;
        DROP TABLE steps;
        ALTER TABLE new_steps RENAME TO steps;
        CREATE TABLE new_submits (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            key TEXT NOT NULL,
            generation INTEGER NOT NULL CHECK (generation >= 0),
            digest TEXT NOT NULL,
            phase TEXT NOT NULL CHECK (phase = 'intent' OR phase = 'sending' OR phase = 'submitted' OR phase = 'refused'
                OR phase = 'unknown'),
            sends INTEGER NOT NULL CHECK (sends >= 0),
            first_sent INTEGER,
            last_sent INTEGER,
            misses INTEGER NOT NULL CHECK (misses >= 0),
            PRIMARY KEY (job, stage, item)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_submits SELECT job, stage, item, key, generation, digest, phase, sends, first_sent, last_sent,
            misses FROM submits;
        DROP TABLE submits;
        ALTER TABLE new_submits RENAME TO submits;
        """

    /// Version 0.1.0 finds a name in its table of steps that it does not know, and says that the database is newer. Since
    /// then steps are counted in `user_version` alone.
    private static let userVersion = """
        CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations (identifier) VALUES ('user-version');
        """

    /// A batch is a job without steps and this row; its items are rows, each of which becomes a job when it is begun. The
    /// counts are kept by the commits that change items, so that nobody counts. An item's key stands once in its batch; a
    /// duplicate has none of its own.
    private static let batches = """
        CREATE TABLE batches (
            job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
            sources TEXT NOT NULL,
            folder TEXT NOT NULL,
            settings TEXT NOT NULL,
            place TEXT,
            first INTEGER NOT NULL DEFAULT 1 CHECK (first >= 1),
            is_read INTEGER NOT NULL CHECK (is_read = 0 OR is_read = 1),
            stopped TEXT CHECK (stopped = 'tooManyFailures' OR stopped = 'sameFailure'),
            pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
            running INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
            suspended INTEGER NOT NULL DEFAULT 0 CHECK (suspended >= 0),
            unknown INTEGER NOT NULL DEFAULT 0 CHECK (unknown >= 0),
            succeeded INTEGER NOT NULL DEFAULT 0 CHECK (succeeded >= 0),
            failed INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
            cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
            duplicate INTEGER NOT NULL DEFAULT 0 CHECK (duplicate >= 0),
            streak_stage TEXT,
            streak_code TEXT,
            streak INTEGER NOT NULL DEFAULT 0 CHECK (streak >= 0)
        ) STRICT;
        CREATE TABLE items (
            batch INTEGER NOT NULL REFERENCES batches (job) ON DELETE CASCADE,
            number INTEGER NOT NULL CHECK (number >= 1),
            key TEXT CHECK (key <> ''),
            duplicate_of TEXT,
            line INTEGER,
            inputs TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state = 'pending' OR state = 'running' OR state = 'succeeded' OR state = 'failed'
                OR state = 'suspended' OR state = 'unknown' OR state = 'cancelled' OR state = 'duplicate'),
            job TEXT,
            attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            ended INTEGER,
            seconds REAL,
            stage TEXT,
            status INTEGER,
            error TEXT,
            results TEXT,
            files TEXT,
            PRIMARY KEY (batch, number),
            UNIQUE (batch, key),
            CHECK ((key IS NULL) = (state = 'duplicate'))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX items_by_state ON items (batch, state, number) WHERE state <> 'succeeded' AND state <> 'duplicate';
        ALTER TABLE jobs ADD COLUMN batch INTEGER REFERENCES jobs (number) ON DELETE CASCADE;
        ALTER TABLE jobs ADD COLUMN item_key TEXT;
        CREATE INDEX jobs_by_batch ON jobs (batch) WHERE batch IS NOT NULL;
        """

    /// Causes that version 0.1.0 did not know stand in a column of their own: the check of the first can't be widened
    /// without copying the table.
    private static let laterCauses = """
        ALTER TABLE jobs ADD COLUMN later_cause TEXT CHECK (later_cause <> '');
        """

    /// The kind and the service that a duration is of; NULL in rows of before.
    private static let sampleSubjects = """
        ALTER TABLE samples ADD COLUMN subject TEXT;
        """

    /// For people who look over many jobs: how each ended, found by an index, and the number of its last change, which one
    /// sequence over the whole journal gives. Kept by the rows of events, so that no writer can forget it.
    private static let overview = """
        ALTER TABLE jobs ADD COLUMN outcome TEXT
            CHECK (outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'cancelled');
        ALTER TABLE jobs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
        UPDATE jobs SET outcome = (SELECT CASE kind WHEN 'job.succeeded' THEN 'succeeded' WHEN 'job.failed' THEN 'failed'
                ELSE 'cancelled' END
            FROM events WHERE job = jobs.number
                AND (kind = 'job.succeeded' OR kind = 'job.failed' OR kind = 'job.cancelled')
            ORDER BY sequence DESC LIMIT 1)
        WHERE ended IS NOT NULL;
        CREATE INDEX jobs_by_outcome ON jobs (outcome, id);
        CREATE INDEX jobs_listed ON jobs (batch, id);
        DROP INDEX jobs_by_batch;
        CREATE INDEX jobs_by_change ON jobs (changed);
        CREATE TABLE journal_changes (last INTEGER NOT NULL) STRICT;
        INSERT INTO journal_changes (last) VALUES (0);
        CREATE TRIGGER events_change_job AFTER INSERT ON events BEGIN
            UPDATE journal_changes SET last = last + 1;
            UPDATE jobs SET changed = (SELECT last FROM journal_changes) WHERE number = new.job;
        END;
        CREATE TRIGGER events_end_job AFTER INSERT ON events
        WHEN new.kind = 'job.succeeded' OR new.kind = 'job.failed' OR new.kind = 'job.cancelled' BEGIN
            UPDATE jobs SET outcome = substr(new.kind, 5) WHERE number = new.job;
        END;
        CREATE TRIGGER jobs_reopen AFTER UPDATE OF ended ON jobs WHEN new.ended IS NULL AND old.outcome IS NOT NULL BEGIN
            UPDATE jobs SET outcome = NULL WHERE number = new.number;
        END;
        """

    /// The number of a job's last change is given once by each commit that has events, no longer by each event.
    private static let changesOfCommits = """
        DROP TRIGGER events_change_job;
        """
}
