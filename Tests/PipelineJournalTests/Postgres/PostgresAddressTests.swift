import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal
@testable import PipelinePostgres

@Suite("The address of a database")
struct PostgresAddressTests {
    @Test(
        "is shown without its password",
        arguments: [
            ("postgres://me:hunter2@db.example/pipeline", "postgres://me@db.example/pipeline"),
            ("postgres://me:a@b:c@db.example:5433/p?sslmode=require", "postgres://me@db.example:5433/p"),
            ("postgresql://db.example/p?password=hunter2", "postgres://db.example/p"),
            ("host=db password=hunter2", "a PostgreSQL database"),
        ])
    func hidesPassword(text: String, shown: String) {
        #expect(PostgresAddress(text).description == shown)
        #expect(PostgresJournal.place(of: text) == shown)
    }

    @Test("takes its password out of what libpq says, also one with percent signs")
    func redacts() {
        let address = PostgresAddress("postgres://me:hunter%212@db.example/p?sslpassword=other")
        #expect(address.redacted("no entry for hunter!2, hunter%212, other") == "no entry for ***, ***, ***")
    }

    @Test("that can't be reached is refused with the place, and without the password")
    func refusesUnreachable() throws {
        let address = "postgres://me:hunter2@127.0.0.1:1/p"
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        let text = "\(failure as Any)"
        #expect(text.contains("the database postgres://me@127.0.0.1:1/p is away"))
        #expect(!text.contains("hunter2"))
    }

    @Test("of which there is no libpq says which package to install")
    func missesLibrary() throws {
        guard case .failure(let error) = PostgresLibrary.load(named: ["libpq.so.none"]) else {
            Issue.record("a library that is not there was opened")
            return
        }
        #expect(error.message.contains("libpq.so.none") && error.hint?.contains("apt install libpq5") == true)
    }

    @Test("finds the parameters of a statement, and neither casts nor texts")
    func findsParameters() {
        let statement = PostgresStatement("SELECT ':no', \"a:b\", :job::BIGINT, :a || :job")
        #expect(statement.text == "SELECT ':no', \"a:b\", $1::BIGINT, $2 || $1")
        #expect(statement.names == ["job", "a"])
    }

    @Test("a library that is older than pipeline mode is refused with what to install")
    func oldLibrary() {
        // Any library without those functions.
        guard case .failure(let error) = PostgresLibrary.load(named: ["libm.so.6"]) else {
            Issue.record("it was taken for libpq")
            return
        }
        #expect(error.kind == .library && error.message.contains("older than version 14"))
        #expect(error.hint?.contains("libpq5") == true)
    }
}
