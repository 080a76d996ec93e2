import PipelineSQL
import PipelineSQLite
import Testing

@Suite("The history of a schema")
struct MigratorTests {
    private static let steps: [SQLiteMigrator.Step] = [
        .init("songs", "CREATE TABLE songs (number INTEGER PRIMARY KEY, title TEXT)"),
        .init("plays", "CREATE TABLE plays (song INTEGER REFERENCES songs (number))"),
        .init(
            "titles",
            "CREATE TABLE new (number INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT; "
                + "INSERT INTO new SELECT * FROM songs; DROP TABLE songs; ALTER TABLE new RENAME TO songs"),
    ]

    private static func migrator(_ count: Int = 3, _ more: [SQLiteMigrator.Step] = []) -> SQLiteMigrator {
        SQLiteMigrator(applicationID: 7, steps: Array(steps.prefix(count)) + more)
    }

    @Test("is made from nothing, and counted in the database")
    func fromNothing() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        #expect(try Self.migrator().standing(of: connection) == .outdated)
        try Self.migrator().migrate(connection)
        #expect(try Self.migrator().standing(of: connection) == .current)
        #expect(try connection.texts("PRAGMA user_version") == ["3"])
        #expect(try connection.texts("PRAGMA application_id") == ["7"])
        try Self.migrator().migrate(connection)
    }

    @Test("goes on where it was, and a table that others refer to can be replaced")
    func goesOn() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute("PRAGMA foreign_keys = ON")
        try Self.migrator(2).migrate(connection)
        try connection.execute("INSERT INTO songs VALUES (1, 'a'); INSERT INTO plays VALUES (1)")
        try Self.migrator().migrate(connection)
        #expect(try connection.texts("SELECT title FROM songs") == ["a"])
        #expect(try connection.texts("PRAGMA foreign_keys") == ["1"])
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO plays VALUES (2)") }
    }

    @Test("of a later program is newer")
    func newer() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try Self.migrator().migrate(connection)
        #expect(try Self.migrator(2).standing(of: connection) == .newer)
    }

    @Test("of another program is not touched")
    func foreign() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute("CREATE TABLE theirs (a)")
        #expect(try Self.migrator().standing(of: connection) == .foreign)
    }

    @Test("of version 0.1.0 is known by the names of its steps")
    func takesOver() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute(
            """
            PRAGMA application_id = 7;
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('songs'), ('plays');
            CREATE TABLE songs (number INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE plays (song INTEGER REFERENCES songs (number));
            INSERT INTO songs VALUES (1, 'a');
            """)
        #expect(try Self.migrator().standing(of: connection) == .outdated)
        try Self.migrator().migrate(connection)
        #expect(try Self.migrator().standing(of: connection) == .current)
        #expect(try connection.texts("SELECT title FROM songs") == ["a"])
    }

    @Test(
        "of version 0.1.0 without a step in the middle, or with one that nobody knows, is newer",
        arguments: [
            "'songs'), ('titles'", "'songs'), ('from the future'",
        ])
    func unknownNames(names: String) throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute(
            """
            PRAGMA application_id = 7; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES (\(names));
            """)
        #expect(try Self.migrator().standing(of: connection) == .newer)
    }

    @Test("that a crash of version 0.1.0 left with its table of names alone is begun")
    func namesAlone() throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try Self.migrator().migrate(connection)
        #expect(try Self.migrator().standing(of: connection) == .current)
    }

    @Test(
        "keeps nothing of a step that fails or leaves rows without a parent, and names it",
        arguments: [
            "INSERT INTO songs VALUES (9, 'x'); INSERT INTO nowhere VALUES (1)",
            "INSERT INTO songs VALUES (9, 'x'); INSERT INTO plays VALUES (99)",
        ])
    func failingStep(sql: String) throws {
        let connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        let error = #expect(throws: SQLiteError.self) {
            try Self.migrator(2, [.init("broken", sql)]).migrate(connection)
        }
        #expect(error?.message.contains("'broken'") == true)
        #expect(try connection.texts("PRAGMA user_version") == ["2"])
        #expect(try connection.texts("SELECT title FROM songs").isEmpty)
    }
}
