import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineJournal
@testable import PipelinePostgres

@Suite("The address of a database")
struct PostgresAddressTests {
    @Test(
        "is shown without its password",
        arguments: [
            ("postgres://me:hunter2@db.example/pipeline", "postgres://me@db.example/pipeline"),
            // A password was shown up to its '?' once.
            ("postgres://me:hush?x#y@db.example:5433/p?sslmode=require", "postgres://me@db.example:5433/p"),
            ("postgres://me:a@b:c@db.example:5433/p", "a PostgreSQL database"),
            ("postgres://me:hush/x@db.example/p", "a PostgreSQL database"),
            ("postgres://me:12/hush@db.example/p", "a PostgreSQL database"),
            ("postgres://me@one,two:5433/p?host=/tmp", "postgres://me@/p?host=/tmp"),
            // Two servers of one machine looked the same.
            ("host=/tmp/x port=6543 dbname=p", "postgres:///p?host=/tmp/x&port=6543"),
            ("postgres://me@one:1,[::1]:2/p", "postgres://me@one:1,[::1]:2/p"),
            ("postgresql://db.example/p?password=hunter2", "postgres://db.example/p"),
            ("host=db dbname=p password='hunter 2'", "postgres://db/p"),
            ("host=db password", "a PostgreSQL database"),
        ])
    func hidesPassword(text: String, shown: String) {
        #expect(PostgresAddress(text).description == shown)
        #expect(PostgresJournal.place(of: text) == shown)
    }

    @Test("takes its password out of what libpq says, also one with percent signs")
    func redacts() {
        let address = PostgresAddress("postgres://me:hunter%212@db.example/p?sslpassword=other")
        #expect(address.redacted("no entry for hunter!2, other") == "no entry for ***, ***")
        // Of what it can't read it quotes any piece.
        let odd = PostgresAddress("postgres://me:hush/x@db.example/p")
        #expect(odd.redacted("invalid port number: \"hush\"") == "invalid port number: …")
    }

    @Test("is a URL, or words as libpq has them, and no folder")
    func isAddress() {
        for text in ["postgres:///p", "postgresql://db/p", "host=db dbname=p", "service = jobs"] {
            #expect(PostgresJournal.isAddress(text))
        }
        for text in ["/var/lib/a=b", "jobs", "", "http://db/p"] { #expect(!PostgresJournal.isAddress(text)) }
    }

    /// A user's connection limit was taken for an unknown user, and a host's name for a reason.
    @Test(
        "that is refused is final by the server's code, or by libpq's own words",
        arguments: [
            ("failed: FATAL:  53300: too many connections for role \"worker\"", true),
            ("failed: FATAL:  57P03: the database system is starting up", true),
            ("failed: FATAL:  08P01: server login has been failing", true),
            ("failed: FATAL:  08P01: no such database: p", false),
            ("failed: FATAL:  28000: role \"x\" does not exist", false),
            ("échec : FATAL:  28P01: l'authentification a échoué", false),
            ("failed: FATAL:  3D000: database \"p\" does not exist", false),
            ("could not translate host name \"password.invalid\" to address: Name or service not known", true),
            ("fe_sendauth: no password supplied", false), ("server does not support SSL, but SSL was required", false),
            ("FATAL:  28P01: no\nconnection to server at \"b\" failed: FATAL:  57P03: starts", true),
        ])
    func refusal(text: String, isAway: Bool) {
        let error = PostgresError(refusal: text + "\nLOCATION:  InitPostgres, postinit.c:714")
        #expect(error.isAway == isAway)
        #expect(!error.message.contains("LOCATION") && !error.message.contains("53300"), "\(error)")
    }

    @Test("whose database is away is waited for once, by whoever asks")
    func outage() {
        let clock = MovedClock()
        let outage = PostgresOutage(
            of: "here", clock: clock, patience: .milliseconds(20), isWorker: { clock.now > 1_000 }, observe: { _ in })
        clock.move(to: 19)
        #expect(outage.allowsWaiting(since: 0))
        clock.move(to: 20)
        #expect(!outage.allowsWaiting(since: 0))
        // Each call waited for its own 20 s once, one after the other.
        #expect(!outage.allowsWaiting(since: 20))
        outage.end(of: .reader)
        #expect(outage.allowsWaiting(since: 20))
        // A read that is answered says nothing of writes.
        outage.report(.busy, of: .writer)
        clock.move(to: 60)
        #expect(!outage.allowsWaiting(since: 20))
        outage.end(of: .reader)
        #expect(!outage.allowsSilence(.seconds(1), of: .writer))
        outage.end(of: .writer)
        #expect(outage.allowsWaiting(since: 50))
        // A worker waits for as long as it takes.
        clock.move(to: 2_000)
        #expect(outage.allowsWaiting(since: 0) && outage.allowsSilence(.milliseconds(19), of: .writer))
        // But not by a connection that answers nothing: it may lead to a server that others have left.
        #expect(!outage.allowsSilence(.milliseconds(20), of: .writer))
        #expect(outage.failure != nil)
    }

    private final class MovedClock: LeaseClock {
        private let time = Mutex<Int64>(0)

        let bootID = "boot"
        var now: Int64 { time.withLock(\.self) }
        func move(to now: Int64) { time.withLock { $0 = now } }
    }

    @Test("that can't be reached is refused with the place, and without the password")
    func refusesUnreachable() throws {
        let address = "postgres://me:hunter2@127.0.0.1:1/p"
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        let text = "\(failure as Any)"
        #expect(text.contains("the database postgres://me@127.0.0.1:1/p is away"))
        #expect(!text.contains("hunter2"))
    }

    // Asked a second time libpq says nothing of what it can't read, and that was taken for a connection that was lost.
    @Test(
        "that libpq can't read is final, and the mistake is named",
        arguments: [
            ("postgres://worker@127.0.0.1:1/db?bogus=1", "invalid URI query parameter"),
            ("postgres://worker@127.0.0.1:1/db?sslmode=nonsense", "invalid sslmode value: \"nonsense\""),
            ("postgres://worker@[::1/db", "end of string reached"),
            ("host=127.0.0.1 port=1 bogus=1", "invalid connection option"),
            ("host=127.0.0.1 port=1,2,3", "could not match 3 port numbers to 1 hosts"),
        ])
    func isUnreadable(text: String, mistake: String) {
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(PostgresAddress(text), name: "test")
        }
        #expect(error?.isAway == false && error?.message.contains(mistake) == true, "\(error as Any)")
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
