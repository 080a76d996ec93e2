import Foundation
import JournalConformance
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineJournal

/// The journals that keep the page of the port.
enum JournalKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, sqlite, postgres

    /// Those that can be tried on this machine; where PostgreSQL is not installed, a test of its own says so.
    static let allCases: [JournalKind] =
        PostgresServer.isAvailable ? [.memory, .sqlite, .postgres] : [.memory, .sqlite]

    /// Those that keep what is kept in rows.
    static var databases: [JournalKind] { allCases.filter { $0 != .memory } }

    func makeWorld() async throws -> any JournalWorld {
        switch self {
        case .memory: MemoryWorld()
        case .sqlite: try SQLiteWorld()
        case .postgres: try await PostgresWorld()
        }
    }

    var testDescription: String { rawValue }
}

extension DatabaseJournal {
    func close() async {
        await (self as? SQLiteJournal)?.close()
        await (self as? PostgresJournal)?.close()
    }
}

struct MemoryWorld: JournalWorld {
    let journal = MemoryJournal()
    func open() throws -> any Journal { journal }
    func kill(_ owner: OwnerID, _ journal: any Journal) async { self.journal.lose(owner) }
    func stop(_ owner: OwnerID) async { journal.expire(owner) }
    func remove() {}
}

struct SQLiteWorld: JournalWorld {
    let folder: TemporaryFolder
    let clock = ManualLeaseClock()

    init() throws { folder = TemporaryFolder() }

    var state: String { folder.path + "/state" }
    func open() throws -> any Journal { try openSQLite() }
    func openSQLite() throws -> SQLiteJournal {
        // So long that no renewal, which goes by real time, comes in between on a slow machine.
        try SQLiteJournal(folder: state, clock: clock, leaseLength: .seconds(3600))
    }

    func kill(_ owner: OwnerID, _ journal: any Journal) async { await (journal as? SQLiteJournal)?.close() }
    func stop(_ owner: OwnerID) async { clock.advance(by: 3_600_001) }
    func remove() { folder.remove() }
}

/// A database of its own on a real server; processes die as the database sees it: their leases run out.
struct PostgresWorld: JournalWorld {
    let server: PostgresServer
    let database: String
    let clock = ManualLeaseClock()

    init() async throws {
        server = try await PostgresServer.shared()
        database = try await server.makeDatabase(copying: try await Self.template.value)
    }

    /// A database with the schema, which all others are copies of.
    private static let template = Task {
        let server = try await PostgresServer.shared()
        let name = try await server.makeDatabase()
        _ = try PostgresJournal.migrate(server.address(of: name))
        return name
    }

    var address: String { server.address(of: database) }
    func open() throws -> any Journal { try openPostgres() }
    func openPostgres(_ change: (inout PostgresJournal.Options) -> Void = { _ in }) throws -> PostgresJournal {
        var options = PostgresJournal.Options()
        options.clock = clock
        // So long that no renewal, which goes by real time, comes in between on a slow machine.
        options.leaseLength = .seconds(3600)
        change(&options)
        return try PostgresJournal(address, options: options)
    }

    /// Nothing is let go; its connections are gone.
    func kill(_ owner: OwnerID, _ journal: any Journal) async {
        await expire(owner)
        (journal as? PostgresJournal)?.hub.close()
        (journal as? PostgresJournal)?.writer.close()
    }

    func stop(_ owner: OwnerID) async {
        clock.advance(by: 3_600_001)
        await expire(owner)
    }

    private func expire(_ owner: OwnerID) async {
        _ = try? await server.query(
            "UPDATE pipeline.workers SET lease_until = now() - interval '1 second' WHERE id = '\(owner.text)'",
            in: database)
    }

    func remove() {}
}

/// A lease clock that stands still until it is moved.
final class ManualLeaseClock: LeaseClock {
    private let state = Mutex((now: Int64(1_000_000), bootID: "first"))
    var now: Int64 { state.withLock { $0.now } }
    var bootID: String { state.withLock { $0.bootID } }
    func advance(by milliseconds: Int64) { state.withLock { $0.now += milliseconds } }
    /// The machine starts again: its clock begins at zero.
    func restart() { state.withLock { $0 = (0, "second") } }
}
