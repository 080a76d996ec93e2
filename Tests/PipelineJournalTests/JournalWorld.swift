import Foundation
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineJournal

/// The journals that keep the page of the port.
enum JournalKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case memory, sqlite

    func makeWorld() throws -> any JournalWorld {
        switch self {
        case .memory: MemoryWorld()
        case .sqlite: try SQLiteWorld()
        }
    }

    var testDescription: String { rawValue }
}

/// One journal as several processes see it.
protocol JournalWorld: Sendable {
    /// The journal as a further process opens it.
    func open() throws -> any Journal
    /// The process that owns jobs by that name, through that journal, is killed.
    func kill(_ owner: OwnerID, _ journal: any Journal) async
    /// The owner is stopped for longer than a lease.
    func stop(_ owner: OwnerID) async
    /// Nothing is left of it.
    func remove()
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

    init() throws { folder = try TemporaryFolder() }

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

/// A lease clock that stands still until it is moved.
final class ManualLeaseClock: LeaseClock {
    private let state = Mutex((now: Int64(1_000_000), bootID: "first"))
    var now: Int64 { state.withLock { $0.now } }
    var bootID: String { state.withLock { $0.bootID } }
    func advance(by milliseconds: Int64) { state.withLock { $0.now += milliseconds } }
    /// The machine starts again: its clock begins at zero.
    func restart() { state.withLock { $0 = (0, "second") } }
}

/// A folder of a test's own.
struct TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/journal-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
