extension PostgresSchema {
    /// Times are milliseconds since 1970 as the program says them, but leases are the database's time. `item` is -1 for a
    /// step that is no item of a `forEach`. What changes often stands in rows of its own, apart from documents; ended jobs
    /// are in no index that is looked through for work.
    ///
    /// An event knows the transaction that wrote it. All transactions below the oldest one that has not ended are there to
    /// be read for good, so that nobody who reads changes up to that one misses any, and no commit waits for another to
    /// get a number. What is measured stands in rows of each process's own.
    static let version1 = """
        CREATE TABLE documents (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            digest TEXT NOT NULL,
            source TEXT NOT NULL
        );
        CREATE INDEX documents_by_digest ON documents (digest);
        CREATE TABLE workers (
            id TEXT COLLATE "C" PRIMARY KEY CHECK (id <> ''),
            host TEXT NOT NULL,
            version TEXT NOT NULL,
            since TIMESTAMPTZ NOT NULL,
            renewed TIMESTAMPTZ NOT NULL,
            lease_until TIMESTAMPTZ NOT NULL,
            token BIGINT NOT NULL DEFAULT 0,
            at_once BIGINT
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
        CREATE VIEW owners AS SELECT id, CASE WHEN lease_until > clock_timestamp() THEN 'alive' ELSE 'dead' END AS boot,
            0::BIGINT AS lease_until FROM workers;
        CREATE TABLE jobs (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id TEXT COLLATE "C" NOT NULL UNIQUE CHECK (id <> ''),
            key TEXT COLLATE "C" NOT NULL UNIQUE,
            pipeline TEXT COLLATE "C" NOT NULL,
            started BIGINT NOT NULL,
            document BIGINT NOT NULL REFERENCES documents (number),
            source_name TEXT NOT NULL,
            inputs TEXT NOT NULL,
            environment TEXT NOT NULL,
            document_folder TEXT NOT NULL,
            output_folder TEXT NOT NULL,
            overwrites BIGINT NOT NULL CHECK (overwrites IN (0, 1)),
            mode TEXT NOT NULL CHECK (mode IN ('attached', 'background')),
            request TEXT CHECK (request IN ('cancel', 'pause')),
            cause TEXT CHECK (cause IN ('interrupted', 'paused', 'noNetwork', 'secret')),
            later_cause TEXT CHECK (later_cause <> ''),
            ended BIGINT,
            owner TEXT COLLATE "C" REFERENCES workers (id),
            epoch BIGINT NOT NULL CHECK (epoch >= 1),
            found_secrets TEXT,
            batch BIGINT REFERENCES jobs (number) ON DELETE CASCADE,
            item_key TEXT,
            host TEXT,
            outcome TEXT CHECK (outcome IN ('succeeded', 'failed', 'cancelled'))
        ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
        CREATE INDEX jobs_unfinished ON jobs (id) WHERE ended IS NULL;
        CREATE INDEX jobs_free ON jobs (id) WHERE ended IS NULL AND owner IS NULL AND mode = 'background';
        CREATE INDEX jobs_by_pipeline ON jobs (pipeline, id);
        CREATE INDEX jobs_by_document ON jobs (document);
        CREATE INDEX jobs_owned ON jobs (owner) WHERE owner IS NOT NULL;
        CREATE INDEX jobs_listed ON jobs (batch, id);
        CREATE INDEX jobs_by_outcome ON jobs (outcome, id) WHERE outcome IS NOT NULL;
        CREATE TABLE steps (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT COLLATE "C" NOT NULL CHECK (stage <> ''),
            item BIGINT NOT NULL CHECK (item >= -1),
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'waiting', 'unknown', 'succeeded', 'failed',
                'cancelled', 'skipped')),
            detail TEXT,
            checkpoint BYTEA,
            captures TEXT NOT NULL,
            started BIGINT,
            ended BIGINT,
            attempts BIGINT NOT NULL CHECK (attempts >= 0),
            resumes BIGINT NOT NULL CHECK (resumes >= 0),
            bytes_sent BIGINT NOT NULL CHECK (bytes_sent >= 0),
            bytes_received BIGINT NOT NULL CHECK (bytes_received >= 0),
            tolerates_failure BIGINT NOT NULL CHECK (tolerates_failure IN (0, 1)),
            value TEXT,
            version BIGINT NOT NULL CHECK (version >= 0),
            expires BIGINT,
            cost DOUBLE PRECISION,
            PRIMARY KEY (job, stage, item),
            CHECK ((detail IS NULL) = (state IN ('pending', 'cancelled', 'skipped')))
        ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
        CREATE INDEX steps_expiring ON steps (expires) WHERE expires IS NOT NULL;
        CREATE TABLE submits (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT COLLATE "C" NOT NULL CHECK (stage <> ''),
            item BIGINT NOT NULL CHECK (item >= -1),
            key TEXT NOT NULL,
            generation BIGINT NOT NULL CHECK (generation >= 0),
            digest TEXT NOT NULL,
            phase TEXT NOT NULL CHECK (phase IN ('intent', 'sending', 'submitted', 'refused', 'unknown')),
            sends BIGINT NOT NULL CHECK (sends >= 0),
            first_sent BIGINT,
            last_sent BIGINT,
            misses BIGINT NOT NULL CHECK (misses >= 0),
            PRIMARY KEY (job, stage, item)
        ) WITH (fillfactor = 70);
        CREATE TABLE facts (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('size', 'digest', 'text', 'jsonLines', 'now', 'uuid')),
            subject TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (job, kind, subject)
        );
        CREATE TABLE files (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            path TEXT NOT NULL CHECK (path <> ''),
            bytes BIGINT NOT NULL CHECK (bytes >= 0),
            sha256 TEXT NOT NULL,
            stage TEXT,
            item BIGINT,
            UNIQUE (job, path)
        );
        CREATE TABLE events (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            sequence BIGINT NOT NULL CHECK (sequence >= 1),
            time BIGINT NOT NULL,
            kind TEXT NOT NULL CHECK (kind <> ''),
            stage TEXT,
            item BIGINT,
            attempt BIGINT,
            data TEXT NOT NULL,
            changed BIGINT NOT NULL DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
            PRIMARY KEY (job, sequence)
        );
        CREATE INDEX events_by_change ON events (changed);
        CREATE VIEW journal_changes AS
            SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) - 1 AS last;
        CREATE FUNCTION end_job() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                UPDATE jobs SET outcome = substr(new.kind, 5) WHERE number = new.job;
                RETURN NULL;
            END
        $$;
        CREATE TRIGGER events_end_job AFTER INSERT ON events FOR EACH ROW
            WHEN (new.kind IN ('job.succeeded', 'job.failed', 'job.cancelled')) EXECUTE FUNCTION end_job();
        CREATE FUNCTION reopen_job() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                new.outcome := NULL;
                RETURN new;
            END
        $$;
        CREATE TRIGGER jobs_reopen BEFORE UPDATE OF ended ON jobs FOR EACH ROW
            WHEN (new.ended IS NULL AND old.outcome IS NOT NULL) EXECUTE FUNCTION reopen_job();
        CREATE TABLE pushes (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item BIGINT NOT NULL CHECK (item >= -1),
            id TEXT NOT NULL CHECK (id <> ''),
            time BIGINT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('new', 'taken', 'void')),
            captures TEXT,
            response TEXT,
            PRIMARY KEY (job, stage, item, id)
        );
        CREATE INDEX pushes_new ON pushes (job) WHERE state = 'new';
        CREATE TABLE notifications (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            id TEXT NOT NULL CHECK (id <> ''),
            entry BIGINT NOT NULL CHECK (entry >= 0),
            event TEXT NOT NULL CHECK (event <> ''),
            state TEXT NOT NULL CHECK (state IN ('planned', 'due', 'sent', 'withdrawn', 'abandoned')),
            due BIGINT NOT NULL,
            time BIGINT NOT NULL,
            title TEXT NOT NULL,
            data TEXT NOT NULL,
            failures BIGINT NOT NULL CHECK (failures >= 0),
            failing_since BIGINT,
            problem TEXT,
            PRIMARY KEY (job, id)
        );
        CREATE INDEX notifications_due ON notifications (job) WHERE state = 'due';
        CREATE TABLE resumes (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            time BIGINT NOT NULL,
            pipeline TEXT COLLATE "C" NOT NULL,
            job BIGINT REFERENCES jobs (number) ON DELETE SET NULL,
            stage TEXT,
            item BIGINT,
            reason TEXT NOT NULL CHECK (reason <> ''),
            charge TEXT NOT NULL CHECK (charge IN ('counted', 'joined', 'expedited', 'attended')),
            delay BIGINT NOT NULL CHECK (delay >= 0),
            machine_delay BIGINT NOT NULL CHECK (machine_delay >= 0),
            start BIGINT NOT NULL,
            is_unlimited BIGINT NOT NULL CHECK (is_unlimited IN (0, 1))
        );
        CREATE INDEX resumes_by_time ON resumes (time);
        CREATE INDEX resumes_by_job ON resumes (job) WHERE job IS NOT NULL;
        CREATE TABLE samples (
            number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            pipeline TEXT COLLATE "C" NOT NULL,
            stage TEXT COLLATE "C" NOT NULL CHECK (stage <> ''),
            ended BIGINT NOT NULL,
            seconds DOUBLE PRECISION NOT NULL CHECK (seconds >= 0),
            earliest DOUBLE PRECISION NOT NULL CHECK (earliest >= 0),
            size DOUBLE PRECISION,
            polls BIGINT NOT NULL CHECK (polls >= 0),
            resumes BIGINT NOT NULL CHECK (resumes >= 0),
            bytes BIGINT NOT NULL CHECK (bytes >= 0),
            p50 DOUBLE PRECISION,
            p90 DOUBLE PRECISION,
            remaining_error DOUBLE PRECISION,
            progress_error DOUBLE PRECISION,
            subject TEXT
        );
        CREATE INDEX samples_by_stage ON samples (pipeline, stage, number);
        CREATE TABLE batches (
            job BIGINT PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
            sources TEXT NOT NULL,
            folder TEXT NOT NULL,
            settings TEXT NOT NULL,
            place TEXT,
            first BIGINT NOT NULL DEFAULT 1 CHECK (first >= 1),
            is_read BIGINT NOT NULL CHECK (is_read IN (0, 1)),
            stopped TEXT CHECK (stopped IN ('tooManyFailures', 'sameFailure', 'spent')),
            pending BIGINT NOT NULL DEFAULT 0 CHECK (pending >= 0),
            running BIGINT NOT NULL DEFAULT 0 CHECK (running >= 0),
            suspended BIGINT NOT NULL DEFAULT 0 CHECK (suspended >= 0),
            unknown BIGINT NOT NULL DEFAULT 0 CHECK (unknown >= 0),
            succeeded BIGINT NOT NULL DEFAULT 0 CHECK (succeeded >= 0),
            failed BIGINT NOT NULL DEFAULT 0 CHECK (failed >= 0),
            cancelled BIGINT NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
            duplicate BIGINT NOT NULL DEFAULT 0 CHECK (duplicate >= 0),
            streak_stage TEXT,
            streak_code TEXT,
            streak BIGINT NOT NULL DEFAULT 0 CHECK (streak >= 0),
            cost DOUBLE PRECISION,
            bytes_sent BIGINT NOT NULL DEFAULT 0 CHECK (bytes_sent >= 0),
            bytes_received BIGINT NOT NULL DEFAULT 0 CHECK (bytes_received >= 0)
        ) WITH (fillfactor = 50);
        CREATE TABLE items (
            batch BIGINT NOT NULL REFERENCES batches (job) ON DELETE CASCADE,
            number BIGINT NOT NULL CHECK (number >= 1),
            key TEXT CHECK (key <> ''),
            duplicate_of TEXT,
            line BIGINT,
            inputs TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'succeeded', 'failed', 'suspended', 'unknown',
                'cancelled', 'duplicate')),
            job TEXT,
            attempt BIGINT NOT NULL DEFAULT 0 CHECK (attempt >= 0),
            ended BIGINT,
            seconds DOUBLE PRECISION,
            stage TEXT,
            status BIGINT,
            error JSON,
            results TEXT,
            files TEXT,
            cost DOUBLE PRECISION,
            bytes_sent BIGINT NOT NULL DEFAULT 0 CHECK (bytes_sent >= 0),
            bytes_received BIGINT NOT NULL DEFAULT 0 CHECK (bytes_received >= 0),
            reading BIGINT,
            PRIMARY KEY (batch, number),
            UNIQUE (batch, key),
            CHECK ((key IS NULL) = (state = 'duplicate'))
        ) WITH (fillfactor = 70);
        CREATE INDEX items_by_state ON items (batch, state, number) WHERE state NOT IN ('succeeded', 'duplicate');
        CREATE TABLE targets (
            batch BIGINT NOT NULL REFERENCES batches (job) ON DELETE CASCADE,
            path TEXT COLLATE "C" NOT NULL CHECK (path <> ''),
            number BIGINT NOT NULL,
            PRIMARY KEY (batch, path)
        );
        CREATE TABLE services (
            id TEXT COLLATE "C" PRIMARY KEY CHECK (id <> ''),
            name TEXT NOT NULL,
            since BIGINT NOT NULL,
            until BIGINT NOT NULL,
            closings BIGINT NOT NULL CHECK (closings >= 1),
            trial_until BIGINT
        );
        CREATE TABLE computations (
            job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT COLLATE "C" NOT NULL CHECK (stage <> ''),
            item BIGINT NOT NULL CHECK (item >= -1),
            service TEXT COLLATE "C" NOT NULL CHECK (service <> ''),
            PRIMARY KEY (job, stage, item)
        );
        CREATE INDEX computations_by_service ON computations (service);
        CREATE FUNCTION end_computation() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                DELETE FROM computations WHERE job = new.job AND stage = new.stage AND item = new.item;
                RETURN NULL;
            END
        $$;
        CREATE TRIGGER computations_end AFTER UPDATE OF state ON steps FOR EACH ROW
            WHEN (new.state IN ('succeeded', 'failed', 'cancelled', 'skipped')) EXECUTE FUNCTION end_computation();
        CREATE TABLE metrics (
            worker TEXT COLLATE "C" NOT NULL,
            metric TEXT COLLATE "C" NOT NULL CHECK (metric <> ''),
            labels TEXT COLLATE "C" NOT NULL,
            bucket BIGINT NOT NULL CHECK (bucket >= 0),
            count DOUBLE PRECISION NOT NULL CHECK (count >= 0),
            sum DOUBLE PRECISION NOT NULL CHECK (sum >= 0),
            PRIMARY KEY (worker, metric, labels, bucket)
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
        CREATE TABLE metric_names (
            label TEXT COLLATE "C" NOT NULL CHECK (label <> ''),
            name TEXT COLLATE "C" NOT NULL,
            PRIMARY KEY (label, name)
        );
        CREATE TABLE traces (
            job BIGINT PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
            link TEXT,
            sequence BIGINT NOT NULL CHECK (sequence >= 0),
            is_whole BIGINT NOT NULL CHECK (is_whole IN (0, 1))
        ) WITH (fillfactor = 70);
        CREATE INDEX traces_open ON traces (job) WHERE is_whole = 0;
        CREATE TABLE rate_shares (
            service TEXT COLLATE "C" NOT NULL,
            worker TEXT COLLATE "C" NOT NULL,
            part DOUBLE PRECISION NOT NULL CHECK (part BETWEEN 0 AND 1),
            until TIMESTAMPTZ NOT NULL,
            PRIMARY KEY (service, worker)
        ) WITH (fillfactor = 50);
        CREATE TABLE list_polls (
            list TEXT COLLATE "C" NOT NULL,
            id TEXT COLLATE "C" NOT NULL,
            worker TEXT COLLATE "C" NOT NULL,
            earliest TIMESTAMPTZ NOT NULL,
            due TIMESTAMPTZ NOT NULL,
            asking TEXT COLLATE "C",
            asking_until TIMESTAMPTZ,
            answered TIMESTAMPTZ,
            url TEXT,
            body BYTEA,
            PRIMARY KEY (list, id)
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
        CREATE TABLE keys (
            name TEXT PRIMARY KEY,
            value BYTEA NOT NULL
        );

        """
}
