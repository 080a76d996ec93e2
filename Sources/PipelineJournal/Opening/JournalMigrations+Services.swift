extension JournalMigrations {
    /// Services that are closed, for all processes, and the places that remote jobs have at services. A place is free in the
    /// commit that ends its step.
    static let services = """
        CREATE TABLE services (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            name TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            closings INTEGER NOT NULL CHECK (closings >= 1),
            trial_until INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE computations (
            job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
            stage TEXT NOT NULL CHECK (stage <> ''),
            item INTEGER NOT NULL CHECK (item >= -1),
            service TEXT NOT NULL CHECK (service <> ''),
            PRIMARY KEY (job, stage, item)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX computations_by_service ON computations (service);
        CREATE TRIGGER computations_end AFTER UPDATE OF state ON steps
        WHEN NEW.state = 'succeeded' OR NEW.state = 'failed' OR NEW.state = 'cancelled' OR NEW.state = 'skipped' BEGIN
            DELETE FROM computations WHERE job = NEW.job AND stage = NEW.stage AND item = NEW.item;
        END;
        """

    /// A place is free as well once it is known that a submit did not arrive: its next send asks for one again.
    static let refusedPlaces = """
        CREATE TRIGGER computations_refused AFTER UPDATE OF phase ON submits
        WHEN OLD.phase = 'sending' AND (NEW.phase = 'intent' OR NEW.phase = 'refused') BEGIN
            DELETE FROM computations WHERE job = NEW.job AND stage = NEW.stage AND item = NEW.item;
        END;
        """

    /// The columns of what steps, items and batches have cost, and the bytes of items; a batch may stop for its money.
    static let costs = """
        ALTER TABLE steps ADD COLUMN cost REAL;
        ALTER TABLE items ADD COLUMN cost REAL;
        ALTER TABLE items ADD COLUMN bytes_sent INTEGER NOT NULL DEFAULT 0 CHECK (bytes_sent >= 0);
        ALTER TABLE items ADD COLUMN bytes_received INTEGER NOT NULL DEFAULT 0 CHECK (bytes_received >= 0);
        ALTER TABLE batches ADD COLUMN cost REAL;
        ALTER TABLE batches ADD COLUMN bytes_sent INTEGER NOT NULL DEFAULT 0 CHECK (bytes_sent >= 0);
        ALTER TABLE batches ADD COLUMN bytes_received INTEGER NOT NULL DEFAULT 0 CHECK (bytes_received >= 0);
        ALTER TABLE batches DROP COLUMN stopped;
        ALTER TABLE batches ADD COLUMN stopped TEXT
            CHECK (stopped = 'tooManyFailures' OR stopped = 'sameFailure' OR stopped = 'spent');
        CREATE TABLE targets (
            batch INTEGER NOT NULL REFERENCES batches (job) ON DELETE CASCADE,
            path TEXT NOT NULL CHECK (path <> ''),
            number INTEGER NOT NULL,
            PRIMARY KEY (batch, path)
        ) STRICT, WITHOUT ROWID;
        """

    /// The reading of the batch's sources in which an item came last, as `batches.first` numbers it; NULL in rows of before.
    static let readings = """
        ALTER TABLE items ADD COLUMN reading INTEGER;
        """
}
