import CSQLite
import PipelineSQL
import PipelineSQLite
import Testing

@Suite("Statements of SQLite")
struct StatementTests {
    private static let table = "CREATE TABLE t (name TEXT, number INTEGER, ratio REAL, bytes BLOB)"

    @Test("bind by name, whatever the order, and are read by name")
    func names() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute(Self.table)
        let insert: StaticString = "INSERT INTO t (name, number, ratio, bytes) VALUES (:name, :number, :ratio, :bytes)"
        for number in 1...3 {
            let changed = try connection.run(
                insert, ["ratio": 0.5, "bytes": [1, 2] as [UInt8], "number": number, "name": "ä\u{0}b"])
            #expect(changed == 1)
        }
        let row = try connection.first("SELECT * FROM t WHERE number = :number", ["number": 2]) { row in
            (row.blob("bytes"), row.text("name"), row.int("number"), row.double("ratio"), row.isNull("name"))
        }
        let found = try #require(row)
        #expect(found.0 == [1, 2] && found.1 == "ä\u{0}b" && found.2 == 2 && found.3 == 0.5 && !found.4)
        #expect(try connection.run("UPDATE t SET number = 7 WHERE number > :least", ["least": 1]) == 2)
        #expect(try connection.run("DELETE FROM t WHERE number = :none", ["none": 99]) == 0)
        #expect(try connection.texts("SELECT number FROM t ORDER BY number") == ["1", "7", "7"])
    }

    @Test("keep an empty text and an empty blob apart from none")
    func emptyIsNotNull() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute(Self.table)
        let values: SQLiteValues = ["name": "", "bytes": [] as [UInt8], "number": Int?.none, "ratio": Double?.none]
        try connection.run("INSERT INTO t VALUES (:name, :number, :ratio, :bytes)", values)
        let isEmpty = try connection.first("SELECT * FROM t") { row in
            row.optionalText("name") == "" && row.optionalBlob("bytes") == [] && row.optionalInteger("number") == nil
                && row.optionalDouble("ratio") == nil && row.isNull("number")
        }
        #expect(isEmpty == true)
        #expect(try connection.texts("SELECT number FROM t") == [])
    }

    @Test("fail for a parameter that is not there, one without a value, and a column that is not there")
    func misuse() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute(Self.table)
        let calls: [(SQLiteValues, String)] = [
            (["nmae": 1], "no parameter nmae"), ([:], "1 parameters and 0 values"),
            (["name": 1, "other": 2], "1 parameters and 2 values"),
        ]
        for (values, message) in calls {
            let error = #expect(throws: SQLiteError.self) {
                try connection.run("INSERT INTO t (name) VALUES (:name)", values)
            }
            #expect(error?.code == SQLITE_MISUSE && error?.message.contains(message) == true)
        }
        try connection.run("INSERT INTO t (name) VALUES (:name)", ["name": "x"])
        let error = #expect(throws: SQLiteError.self) {
            try connection.first("SELECT name FROM t") { $0.text("nmae") }
        }
        #expect(error?.message.contains("no column nmae") == true)
        #expect(try connection.first("SELECT name FROM t") { $0.text("name") } == "x")
    }

    @Test("are ready again after a body that fails, and hold nothing up")
    func failingBody() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute(Self.table + "; INSERT INTO t (number) VALUES (1), (2)")
        for _ in 1...2 {
            #expect(throws: SQLiteError(code: 7, message: "mine", file: "")) {
                try connection.forEachRow(of: "SELECT number FROM t") { (_) throws(SQLiteError) in
                    throw SQLiteError(code: 7, message: "mine", file: "")
                }
            }
        }
        // A statement that still stood at a row would keep the table.
        try connection.execute("DROP TABLE t")
    }

    @Test("tell a mistake with SQLite's words, its code and the file")
    func mistakes() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (number INTEGER CHECK (number > 0)) STRICT")
        let error = #expect(throws: SQLiteError.self) { try connection.run("INSERT INTO t VALUES (0)") }
        #expect(error?.code == SQLITE_CONSTRAINT | (1 << 8) && error?.primaryCode == SQLITE_CONSTRAINT)
        #expect(error?.message == "CHECK constraint failed: number > 0" && error?.file == database.path)
        let syntax = #expect(throws: SQLiteError.self) { try connection.run("SELEKT") }
        #expect(syntax?.message.contains("syntax error") == true)
        #expect(throws: SQLiteError.self) { try connection.execute("CREATE TABLE u (a); SELEKT") }
        #expect(try connection.texts("SELECT name FROM sqlite_master WHERE name = 'u'") == ["u"])
    }
}
