import CLibrary
import CSQLite
import PipelineSQL
import PipelineSQLite
import Testing

@Suite("Transactions of SQLite, and files that can't be used")
struct TransactionTests {
    private static let mine = SQLiteError(code: 7, message: "mine", file: "")

    @Test("commit what the body did, and keep nothing of one that fails")
    func commits() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (number INTEGER)")
        let value = try connection.transaction(.writing) { () throws(SQLiteError) in
            try connection.run("INSERT INTO t VALUES (1)")
            return "done"
        }
        #expect(value == "done")
        #expect(throws: Self.mine) {
            try connection.transaction(.writing) { () throws(SQLiteError) in
                try connection.run("INSERT INTO t VALUES (2)")
                throw Self.mine
            }
        }
        #expect(!connection.isInTransaction)
        #expect(try database.connect().texts("SELECT number FROM t") == ["1"])
    }

    @Test("undo a savepoint of any number of pages, kept in memory and in a file", arguments: [5, 20, 40, 300, 3000])
    func savepoints(pages: Int) throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (number INTEGER PRIMARY KEY, bytes BLOB)")
        try connection.transaction(.writing) { () throws(SQLiteError) in
            for number in 1...pages {
                try connection.execute("INSERT INTO t VALUES (\(number), zeroblob(3900))")
            }
            try connection.execute("SAVEPOINT one; UPDATE t SET bytes = randomblob(3900)")
            try connection.execute("ROLLBACK TO one; RELEASE one")
            try connection.execute(
                "SAVEPOINT two; UPDATE t SET bytes = zeroblob(3800) WHERE number % 2 = 0; RELEASE two")
        }
        let lengths = try connection.texts(
            "SELECT DISTINCT length(bytes) || hex(substr(bytes, 1, 1)) FROM t ORDER BY 1")
        #expect(lengths == ["380000", "390000"])
        #expect(try connection.texts("PRAGMA integrity_check") == ["ok"])
    }

    @Test("read one moment, whatever others commit")
    func readsOneMoment() throws {
        let database = Database()
        let (mine, theirs) = (try database.connect(), try database.connect())
        try mine.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (number INTEGER)")
        try mine.transaction(.reading) { () throws(SQLiteError) in
            #expect(try mine.texts("SELECT count(*) FROM t") == ["0"])
            try theirs.execute("INSERT INTO t VALUES (1)")
            #expect(try mine.texts("SELECT count(*) FROM t") == ["0"])
        }
        #expect(try mine.texts("SELECT count(*) FROM t") == ["1"])
    }

    @Test("are busy while another connection writes, and go on after it")
    func busy() throws {
        let database = Database()
        let (mine, theirs) = (try database.connect(), try database.connect())
        try mine.execute("CREATE TABLE t (number INTEGER)")
        try theirs.transaction(.writing) { () throws(SQLiteError) in
            let error = #expect(throws: SQLiteError.self) {
                try mine.transaction(.writing) { () throws(SQLiteError) in Issue.record("two write at once") }
            }
            #expect(error?.primaryCode == SQLITE_BUSY)
        }
        try mine.transaction(.writing) { () throws(SQLiteError) in try mine.execute("INSERT INTO t VALUES (1)") }
    }

    @Test("keep nothing of what found no room")
    func full() throws {
        let database = Database()
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (bytes BLOB); PRAGMA max_page_count = 8")
        let error = #expect(throws: SQLiteError.self) {
            try connection.transaction(.writing) { () throws(SQLiteError) in
                try connection.run("INSERT INTO t VALUES (:bytes)", ["bytes": [UInt8](repeating: 1, count: 100)])
                try connection.run("INSERT INTO t VALUES (:bytes)", ["bytes": [UInt8](repeating: 1, count: 100_000)])
            }
        }
        #expect(error?.primaryCode == SQLITE_FULL)
        #expect(!connection.isInTransaction)
        #expect(try connection.texts("SELECT count(*) FROM t") == ["0"])
        try connection.run("INSERT INTO t VALUES (:bytes)", ["bytes": [UInt8](repeating: 1, count: 100)])
    }

    @Test("say that a file can't be written to")
    func readOnly() throws {
        let database = Database()
        try database.connect().execute("CREATE TABLE t (number INTEGER)")
        let connection = try database.connect()
        try connection.execute("PRAGMA query_only = 1")
        let error = #expect(throws: SQLiteError.self) { try connection.run("INSERT INTO t VALUES (1)") }
        #expect(error?.primaryCode == SQLITE_READONLY)
    }

    @Test("say that there is no such file, and make none unasked")
    func missing() throws {
        let database = Database()
        let error = #expect(throws: SQLiteError.self) {
            _ = try SQLiteConnection(database.path, busyTimeout: .zero)
        }
        #expect(error?.primaryCode == SQLITE_CANTOPEN && error?.system == ENOENT && error?.file == database.path)
        #expect(access(database.path, F_OK) != 0)
    }

    @Test("say that a file is no database, or a damaged one")
    func damaged() throws {
        let database = Database()
        database.write([UInt8](repeating: 0x55, count: 10_000))
        let error = #expect(throws: SQLiteError.self) { try database.connect().texts("SELECT * FROM sqlite_master") }
        #expect(error?.primaryCode == SQLITE_NOTADB)

        let other = Database()
        try other.connect().execute("CREATE TABLE t (number INTEGER); INSERT INTO t VALUES (1)")
        other.write([UInt8](repeating: 0x55, count: 4096), at: 4096)
        let damage = #expect(throws: SQLiteError.self) { try other.connect().texts("SELECT number FROM t") }
        #expect(damage?.primaryCode == SQLITE_CORRUPT)
    }
}
