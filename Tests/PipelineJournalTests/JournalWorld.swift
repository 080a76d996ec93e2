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
    /// That of all processes, which each may be ahead of.
    let clock = ManualLeaseClock()
    private let clocks = OwnClocks()

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
        let own = OwnClocks.Clock(base: clock)
        options.clock = own
        // So long that no renewal, which goes by real time, comes in between on a slow machine.
        options.leaseLength = .seconds(3600)
        change(&options)
        let journal = try PostgresJournal(address, options: options)
        clocks.add(own, of: journal.owner)
        return journal
    }

    /// Nothing is let go; its connections are gone.
    func kill(_ owner: OwnerID, _ journal: any Journal) async {
        await expire(owner)
        (journal as? PostgresJournal)?.hub.close()
        (journal as? PostgresJournal)?.writer.close()
    }

    func stop(_ owner: OwnerID) async {
        let stopped: any Advancing = clocks.clock(of: owner) ?? clock
        stopped.advance(by: 3_600_001)
        await expire(owner)
    }

    private func expire(_ owner: OwnerID) async {
        // The others have lived for a while by now.
        clock.advance(by: 5000)
        _ = try? await server.query(
            "UPDATE pipeline.workers SET lease_until = now() - interval '1 second' WHERE id = '\(owner.text)'",
            in: database)
    }

    func remove() {}
}

/// A clock that tests move.
private protocol Advancing {
    func advance(by milliseconds: Int64)
}

/// The clocks of processes by their owners: one that was stopped finds its own ahead.
private final class OwnClocks: Sendable {
    final class Clock: LeaseClock, Advancing {
        private let base: ManualLeaseClock
        private let ahead = Mutex<Int64>(0)

        init(base: ManualLeaseClock) { self.base = base }

        var now: Int64 { base.now + ahead.withLock { $0 } }
        var bootID: String { base.bootID }
        func advance(by milliseconds: Int64) { ahead.withLock { $0 += milliseconds } }
    }

    private let clocks = Mutex<[OwnerID: Clock]>([:])

    func add(_ clock: Clock, of owner: OwnerID) { clocks.withLock { $0[owner] = clock } }
    func clock(of owner: OwnerID) -> Clock? { clocks.withLock { $0[owner] } }
}

/// A lease clock that stands still until it is moved.
final class ManualLeaseClock: LeaseClock, Advancing {
    private let state = Mutex((now: Int64(1_000_000), bootID: "first"))
    var now: Int64 { state.withLock { $0.now } }
    var bootID: String { state.withLock { $0.bootID } }
    func advance(by milliseconds: Int64) { state.withLock { $0.now += milliseconds } }
    /// The machine starts again: its clock begins at zero.
    func restart() { state.withLock { $0 = (0, "second") } }
}
