import CLibrary
import Foundation
import JournalConformance
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineJournal

/// What a server, a library or a database refuses: each says what, where and what to do, and nothing is lost.
@Suite(
    "A database that refuses", .serialized,
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct PostgresRefusalTests {
    /// The words of the failure with which a journal can't be opened or written.
    private func words(_ address: String) async -> String {
        let failure = await #expect(throws: JournalFailure.self) {
            let journal = try PostgresJournal(address)
            _ = try await journal.create(.example(1), events: [], owner: journal.owner)
        }
        return "\(failure as Any)"
    }

    @Test("a server of version 12 is named with the version that is needed")
    func oldServer() async throws {
        let server = try OldServer(version: "12.22")
        defer { server.close() }
        let words = await words("postgres://me:hunter2@/jobs?host=\(server.folder)")
        #expect(words.contains("PostgreSQL 12") && words.contains("PostgreSQL 14 or later"), "\(words)")
        #expect(words.contains("postgres://me@/jobs") && !words.contains("hunter2"), "\(words)")
    }

    @Test("a wrong password is told with where it is looked for, and is not shown")
    func wrongPassword() async throws {
        let world = try await PostgresWorld()
        let (server, role) = (world.server, "guarded\(world.database)")
        try await server.query("CREATE ROLE \(role) LOGIN PASSWORD 'right'", in: world.database)
        let rules = server.folder + "/data/pg_hba.conf"
        let old = try String(contentsOfFile: rules, encoding: .utf8)
        let handle = try #require(FileHandle(forWritingAtPath: rules))
        try handle.write(contentsOf: Data("local all \(role) scram-sha-256\n\(old)".utf8))
        try handle.close()
        try await server.query("SELECT pg_reload_conf()", in: world.database)
        let address = "postgres://\(role):hunter2@/\(world.database)?host=\(server.folder)"
        var said = ""
        // The server reads its rules again soon after it was told to.
        for _ in 0..<100 where !said.contains("password authentication failed") {
            do throws(JournalFailure) { await (try PostgresJournal(address)).close() } catch { said = "\(error)" }
        }
        #expect(said.contains("password authentication failed") && said.contains("PGPASSFILE"), "\(said)")
        #expect(said.contains("postgres://\(role)@/\(world.database)") && !said.contains("hunter2"), "\(said)")
    }

    @Test("a user who has all connections that he may have finds the database away, and one that is not there does not")
    func connectionLimit() async throws {
        let world = try await PostgresWorld()
        let role = "limited\(world.database)"
        try await world.server.query("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0", in: world.database)
        let address = world.server.address(of: world.database, user: role)
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        guard case .away(_, let reason) = failure else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(reason.contains("too many connections for role") && !reason.contains("53300"), "\(reason)")
        let unknown = await words(world.server.address(of: world.database, user: "nobodyatall"))
        #expect(unknown.contains("does not exist") && unknown.contains("createuser"), "\(unknown)")
    }

    @Test("a column that somebody removed is told by 'doctor', and so is a table")
    func missingColumns() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        #expect(try await journal.checkIntegrity() == [])
        let there = try await world.server.query(
            "SELECT string_agg(table_name || '.' || column_name, ' ') FROM information_schema.columns "
                + "WHERE table_schema = 'pipeline' AND table_name NOT IN ('owners', 'journal_changes')",
            in: world.database)
        #expect(Set(there.split(separator: " ").map(String.init)) == PostgresSchema.columns)
        try await world.server.query(
            "DROP TABLE pipeline.list_polls; ALTER TABLE pipeline.traces DROP COLUMN link", in: world.database)
        let mistakes = try await journal.checkIntegrity()
        #expect(mistakes.contains("traces.link is missing") && mistakes.contains("list_polls.id is missing"))
        await journal.close()
    }

    @Test("that a user may read it and not write is told by 'doctor', with the tables")
    func readOnlyUser() async throws {
        let world = try await PostgresWorld()
        await (try world.openPostgres()).close()
        let role = "reader\(world.database)"
        try await world.server.query(
            "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA pipeline TO \(role); "
                + "GRANT SELECT ON ALL TABLES IN SCHEMA pipeline TO \(role); "
                + "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pipeline TO \(role); "
                + "REVOKE INSERT ON pipeline.events, pipeline.steps FROM \(role)",
            in: world.database)
        let journal = try PostgresJournal(world.server.address(of: world.database, user: role))
        let told = try await journal.checkIntegrity()
        #expect(told == ["the address's user may not write all of events, steps: grant it, as the owner"])
        await journal.close()
    }

    @Test("a user who may make no schema is told so by 'journal migrate'")
    func noRights() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        try await server.query("CREATE ROLE guest\(database) LOGIN", in: database)
        let failure = #expect(throws: JournalFailure.self) {
            _ = try PostgresJournal.migrate(server.address(of: database, user: "guest\(database)"))
        }
        guard case .refused(let place, let reason, let hint) = failure else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(place.contains(database) && reason.contains("permission denied") && hint.contains("grant"))
        let there = try await server.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'pipeline'", in: database)
        #expect(there == "0")
    }

    @Test("a standby is read and not written, and is a primary again with all that there was")
    func standby() async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        _ = try PostgresJournal.migrate(address)
        let job = JobSnapshot.example(1)
        let first = try PostgresJournal(address)
        _ = try await first.create(job, events: [job.event(1)], owner: first.owner)
        await first.close()
        let signal = server.folder + "/data/standby.signal"
        await server.stop()
        #expect(FileManager.default.createFile(atPath: signal, contents: Data()))
        try await server.start()
        let reading = try PostgresJournal(address)
        #expect(try await reading.jobs(JobQuery()).count == 1)
        #expect(try await reading.checkIntegrity().first?.contains("standby") == true)
        await #expect(throws: JournalFailure.self) {
            _ = try await reading.create(.example(2), events: [], owner: reading.owner)
        }
        let words = await words(address)
        #expect(words.contains("read-only") && words.contains("target_session_attrs=read-write"), "\(words)")
        await reading.close()
        await server.stop()
        try FileManager.default.removeItem(atPath: signal)
        try await server.start()
        let again = try PostgresJournal(address)
        #expect(try await again.jobs(JobQuery()).count == 1)
        _ = try await again.create(.example(2), events: [], owner: again.owner)
        #expect(try await again.checkIntegrity() == [])
        await again.close()
        await server.remove()
    }

    @Test(
        "a full tablespace keeps nothing of a call that does not fit, says so, and takes what fits",
        .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
    func fullTablespace() async throws {
        let server = try await PostgresServer()
        let folder = server.folder + "/small"
        var owner = stat()
        #expect(stat(server.folder + "/data", &owner) == 0 && mkdir(folder, 0o700) == 0)
        #expect(mount("tmpfs", folder, "tmpfs", 0, "size=24m,mode=0700,uid=\(owner.st_uid)") == 0)
        defer { umount2(folder, Int32(MNT_DETACH)) }
        try await server.query("CREATE TABLESPACE small LOCATION '\(folder)'", in: "postgres")
        try await server.query("CREATE DATABASE cramped TABLESPACE small", in: "postgres")
        let address = server.address(of: "cramped")
        _ = try PostgresJournal.migrate(address)
        let journal = try PostgresJournal(address)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        var step = StepRecord(state: .running(AttemptState()))
        // No two blocks alike, so that nothing of it is pressed together.
        var random = SystemRandomNumberGenerator()
        step.checkpoint = (0..<3_000_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
        step.version = 1
        let large: [JournalChange] = [.event(job.event(1)), .step(.upload, step)]
        let failure = await #expect(throws: JournalFailure.self) { try await journal.commit(large, under: lease) }
        guard case .full(let place) = failure else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(place.contains("cramped"))
        #expect(try await journal.events(of: job.record.id, after: 0).isEmpty)
        #expect(mount("tmpfs", folder, nil, UInt(MS_REMOUNT), "size=64m") == 0)
        try await journal.commit([.event(job.event(1)), job.next(.upload, .running(AttemptState()))], under: lease)
        #expect(try await journal.events(of: job.record.id, after: 0).count == 1)
        await journal.close()
        await server.remove()
    }

    @Test("a schema that can't be made whole is not made at all, and is made once nothing is in the way")
    func halfMigrated() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        try await server.query("CREATE SCHEMA pipeline; CREATE TABLE pipeline.keys (x int)", in: database)
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal.migrate(address) }
        #expect("\(failure as Any)".contains("step 'v1'") && "\(failure as Any)".contains(database))
        let tables = try await server.query(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'pipeline'", in: database)
        #expect(tables == "1", "nothing of it is left")
        #expect(await words(address).contains("pipeline journal migrate"))
        try await server.query("DROP TABLE pipeline.keys", in: database)
        #expect(try PostgresJournal.migrate(address) == PostgresSchema.steps.count)
        await (try PostgresJournal(address)).close()
        // A table that somebody removed.
        try await server.query("DROP TABLE pipeline.steps CASCADE", in: database)
        let words = await words(address)
        #expect(words.contains("not whole") && words.contains(database), "\(words)")
    }

    @Test("programs of two versions work on one schema, and each worker's row says which it is")
    func versionsApart() async throws {
        let world = try await PostgresWorld()
        let (old, new) = (
            try world.openPostgres { $0.version = "0.1.9" }, try world.openPostgres { $0.version = "0.2.0" }
        )
        try await old.becomeWorker(atOnce: 2)
        try await new.becomeWorker(atOnce: 2)
        let example = JobSnapshot.example(1)
        let job = JobSnapshot(record: example.record, steps: example.steps, mode: .background)
        let lease = try await old.create(job, events: [job.event(1)], owner: old.owner)
        try await old.release(lease)
        #expect(try await new.claimJobs(5, at: .at(1)) == [job.record.id])
        #expect(try await new.workers().map(\.version).sorted() == ["0.1.9", "0.2.0"])
        for journal in [old, new] { await journal.close() }
    }

    @Test("a call that a timeout of 1 ms ends is refused with what to raise, and nothing of it is kept")
    func statementTimeout() async throws {
        let world = try await PostgresWorld()
        try await world.server.query(
            "CREATE FUNCTION pipeline.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NEW; END'; "
                + "CREATE TRIGGER slow BEFORE INSERT ON pipeline.jobs FOR EACH ROW EXECUTE FUNCTION pipeline.slow()",
            in: world.database)
        // One millisecond is enough for some of what comes before, and not for all: it may be the opening that is refused.
        let words = await words(world.address + "&options=-cstatement_timeout%3D1")
        #expect(words.contains("raise statement_timeout") && words.contains(world.database), "\(words)")
        try await world.server.query("DROP TRIGGER slow ON pipeline.jobs", in: world.database)
        let journal = try world.openPostgres()
        #expect(try await journal.jobs(JobQuery()).isEmpty)
        _ = try await journal.create(.example(1), events: [], owner: journal.owner)
        #expect(try await journal.jobs(JobQuery()).count == 1)
        await journal.close()
    }
}

/// A server that says its version and nothing else, as far as the protocol's start goes (PostgreSQL manual, chapter 55).
private final class OldServer: Sendable {
    let folder: String
    private let listener: Int32

    init(version: String) throws {
        var template = Array("/tmp/old-pg-XXXXXX".utf8CString)
        folder = String(cString: try #require(mkdtemp(&template)))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array("\(folder)/.s.PGSQL.5432".utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
        }
        try #require(isBound && listen(listener, 8) == 0)
        func message(_ type: Character, _ body: [UInt8]) -> [UInt8] {
            [type.asciiValue ?? 0] + withUnsafeBytes(of: UInt32(body.count + 4).bigEndian) { Array($0) } + body
        }
        let greeting =
            message("R", [0, 0, 0, 0]) + message("S", Array("server_version\u{0}\(version)\u{0}".utf8))
            + message("K", [0, 0, 0, 1, 0, 0, 0, 1]) + message("Z", Array("I".utf8))
        let socket = listener
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                if connection < 0 { return }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = read(connection, &bytes, bytes.count)
                _ = write(connection, greeting, greeting.count)
                // Until it is left.
                _ = read(connection, &bytes, bytes.count)
                CLibrary.close(connection)
            }
        }
    }

    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        CLibrary.close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }
}
