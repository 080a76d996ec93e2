import Foundation
import JournalConformance
import PipelineCore
import PipelineSQLite
import PipelineTestKit
import Testing

@testable import PipelineJournal

@Suite("Opening a state folder")
struct SQLiteJournalOpeningTests {
    @Test("makes it with parents, closed to others whatever the umask")
    func isPrivate() async throws {
        let world = try SQLiteWorld()
        defer { world.folder.remove() }
        let state = world.folder.path + "/deep/er/state"
        let mask = umask(0)
        defer { umask(mask) }
        let journal = try SQLiteJournal(folder: state + "/")
        let job = JobSnapshot.example(1)
        _ = try await journal.create(job, events: [], owner: journal.owner)
        #expect(SQLiteWorld.mode(state) == 0o700)
        #expect(SQLiteWorld.mode(state + "/owners") == 0o700)
        for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "opening.lock"] {
            #expect(SQLiteWorld.mode(state + "/" + name) == 0o600, "\(name)")
        }
        for name in [".lock", ".sock"] {
            #expect(SQLiteWorld.mode(state + "/owners/" + journal.owner.text + name) == 0o600, "\(name)")
        }
    }

    @Test("makes nothing for a command that only reads")
    func openExisting() throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        #expect(try SQLiteJournal.openExisting(folder: world.state) == nil)
        #expect(!FileManager.default.fileExists(atPath: world.state))
        _ = try world.openSQLite()
        #expect(try SQLiteJournal.openExisting(folder: world.state) != nil)
    }

    @Test("reads while another process is in the middle of writing")
    func readsBesideWriter() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let job = JobSnapshot.example(1)
        _ = try await journal.create(job, events: [], owner: journal.owner)
        let reading = try #require(try SQLiteJournal.openExisting(folder: world.state, clock: world.clock))
        let writing = try world.holdForWriting("UPDATE jobs SET pipeline = 'changed'")
        #expect(try await reading.jobs(JobQuery()).map(\.snapshot.record.pipeline) == ["selfie"])
        #expect(try await reading.jobs(JobQuery()).map(\.owner) == [journal.owner])
        writing.rollBack()
    }

    @Test("refuses a symbolic link in place of the folder or the database")
    func refusesLinks() throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        _ = try world.openSQLite()
        let link = world.folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: world.state)
        for folder in [link, link + "/"] {
            #expect(throws: JournalFailure.notWritable(folder: link, reason: "\(link) is a symbolic link")) {
                _ = try SQLiteJournal(folder: folder)
            }
        }
        let moved = world.folder.path + "/moved.sqlite"
        try FileManager.default.moveItem(atPath: world.database, toPath: moved)
        try FileManager.default.createSymbolicLink(atPath: world.database, withDestinationPath: moved)
        #expect(
            throws: JournalFailure.notWritable(folder: world.state, reason: "\(world.database) is a symbolic link")
        ) { _ = try SQLiteJournal(folder: world.state) }
    }

    /// Root of a container may not: the other user is not mapped there.
    private static let canGiveFilesAway: Bool = {
        guard let world = try? SQLiteWorld() else { return false }
        defer { world.remove() }
        return chown(world.folder.path, 12_345, gid_t.max) == 0
    }()

    @Test("refuses what belongs to another user", .enabled(if: Self.canGiveFilesAway, "needs root to give files away"))
    func refusesForeign() throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        _ = try world.openSQLite()
        for path in [world.database, world.state] {
            #expect(chown(path, 12_345, gid_t.max) == 0)
            #expect(
                throws: JournalFailure.notWritable(folder: world.state, reason: "\(path) belongs to another user")
            ) { _ = try SQLiteJournal(folder: world.state) }
            #expect(chown(path, 0, gid_t.max) == 0)
        }
        _ = try world.openSQLite()
    }

    @Test("closes a folder of ours to others, but no folder that only was named by mistake")
    func narrows() throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        _ = try world.openSQLite()
        chmod(world.state, 0o755)
        chmod(world.database, 0o644)
        _ = try world.openSQLite()
        #expect(SQLiteWorld.mode(world.state) == 0o700)
        #expect(SQLiteWorld.mode(world.database) == 0o600)
        let home = world.folder.path + "/home"
        mkdir(home, 0o755)
        chmod(home, 0o755)
        #expect(throws: JournalFailure.self) { _ = try SQLiteJournal(folder: home) }
        #expect(SQLiteWorld.mode(home) == 0o755)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
    }

    @Test("says so when a file stands where the folder should be")
    func refusesFile() throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        _ = FileManager.default.createFile(atPath: world.state, contents: nil)
        for folder in [world.state, world.state + "/below"] {
            let failure = #expect(throws: JournalFailure.self) { _ = try SQLiteJournal(folder: folder) }
            guard case .notWritable = failure else { Issue.record("\(String(describing: failure))"); continue }
        }
    }

    @Test("refuses a damaged database and leaves it as it is", arguments: ["text", "truncated", "foreign"])
    func refusesDamaged(how: String) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        try await world.openSQLite().close()
        switch how {
        case "text":
            try Data(String(repeating: "no database ", count: 500).utf8).write(to: URL(filePath: world.database))
        case "truncated": truncate(world.database, 3 * 4_096 + 100)
        default:
            try FileManager.default.removeItem(atPath: world.database)
            try world.execute("CREATE TABLE songs (title TEXT)")
        }
        let before = try Data(contentsOf: URL(filePath: world.database))
        let failure = #expect(throws: JournalFailure.self) { _ = try world.openSQLite() }
        guard case .damaged(let file, _) = failure else { throw try #require(failure) }
        #expect(file == world.database)
        #expect(try Data(contentsOf: URL(filePath: world.database)).count == before.count)
    }

    @Test("refuses a database of a newer version")
    func refusesNewer() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        try await world.openSQLite().close()
        try world.execute("PRAGMA user_version = 999")
        #expect(throws: JournalFailure.newer(file: world.database)) { _ = try world.openSQLite() }
    }

    @Test("makes the schema once when many open at the same moment")
    func opensConcurrently() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    let journal = try world.openSQLite()
                    _ = try await journal.create(.example(number), events: [], owner: journal.owner)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await world.openSQLite().jobs(JobQuery()).count == 8)
    }
}
