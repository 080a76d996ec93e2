extension JournalMigrations {
    /// The tables of what was measured, summed up by the commits that it belongs to: a row for each number of a series,
    /// its labels' values a JSON array. And the names that became labels, so that only the first of them do.
    static let metrics = """
        CREATE TABLE metrics (
            metric TEXT NOT NULL CHECK (metric <> ''),
            labels TEXT NOT NULL,
            bucket INTEGER NOT NULL CHECK (bucket >= 0),
            count REAL NOT NULL CHECK (count >= 0),
            sum REAL NOT NULL CHECK (sum >= 0),
            PRIMARY KEY (metric, labels, bucket)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE metric_names (
            label TEXT NOT NULL CHECK (label <> ''),
            name TEXT NOT NULL,
            PRIMARY KEY (label, name)
        ) STRICT, WITHOUT ROWID;
        """

    /// The same table with numbers of rows, so that a row which is known is found by one.
    static let numberedMetrics = """
        ALTER TABLE metrics RENAME TO old_metrics;
        CREATE TABLE metrics (
            number INTEGER PRIMARY KEY,
            metric TEXT NOT NULL CHECK (metric <> ''),
            labels TEXT NOT NULL,
            bucket INTEGER NOT NULL CHECK (bucket >= 0),
            count REAL NOT NULL CHECK (count >= 0),
            sum REAL NOT NULL CHECK (sum >= 0),
            UNIQUE (metric, labels, bucket)
        ) STRICT;
        INSERT INTO metrics (metric, labels, bucket, count, sum) SELECT metric, labels, bucket, count, sum FROM old_metrics;
        DROP TABLE old_metrics;
        """

    /// The table of how far each job's spans were exported, and what it is linked to.
    static let traces = """
        CREATE TABLE traces (
            job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
            link TEXT,
            sequence INTEGER NOT NULL CHECK (sequence >= 0),
            is_whole INTEGER NOT NULL CHECK (is_whole = 0 OR is_whole = 1)
        ) STRICT;
        CREATE INDEX traces_open ON traces (job) WHERE is_whole = 0;
        """
}
