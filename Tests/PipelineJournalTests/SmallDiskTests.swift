import Foundation
import JournalConformance
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal

@Suite("A disk without room", .enabled(if: SmallDisk.isPossible, "needs the right to mount a file system"))
struct SmallDiskTests {
    @Test("keeps nothing of a call that does not fit, and goes on when there is room again")
    func fullDisk() async throws {
        let disk = try SmallDisk(kilobytes: 768)
        let state = disk.path + "/state"
        let journal = try SQLiteJournal(folder: state)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        var step = StepRecord(state: .running(AttemptState()))
        step.checkpoint = Array(repeating: 7, count: 900_000)
        step.version = 1
        let large: [JournalChange] = [.event(job.event(1)), .step(.upload, step)]
        await #expect(throws: JournalFailure.full(folder: state)) { try await journal.commit(large, under: lease) }
        #expect(try await journal.snapshot(of: job.record.id)?.steps[.upload] == StepRecord())
        #expect(try await journal.events(of: job.record.id, after: 0).isEmpty)
        try await journal.commit([.event(job.event(1)), job.next(.upload, .running(AttemptState()))], under: lease)
        #expect(try await journal.snapshot(of: job.record.id)?.sequence == 1)
        #expect(try await journal.checkIntegrity().isEmpty)
    }

    @Test("says that there is no room for a new journal")
    func noRoomAtAll() async throws {
        let disk = try SmallDisk(kilobytes: 64)
        let state = disk.path + "/state"
        _ = FileManager.default.createFile(atPath: disk.path + "/ballast", contents: Data(count: 40_000))
        #expect(throws: JournalFailure.full(folder: state)) { _ = try SQLiteJournal(folder: state) }
    }

    /// The reason was that there is no such file.
    @Test("says that a journal on a read-only disk can't be written, and why")
    func readOnly() async throws {
        let disk = try SmallDisk(kilobytes: 1_024)
        let state = disk.path + "/state"
        try await SQLiteJournal(folder: state).close()
        try #require(disk.makeReadOnly())
        for folder in [state, disk.path + "/new"] {
            let failure = #expect(throws: JournalFailure.self) { _ = try SQLiteJournal(folder: folder) }
            guard case .notWritable(folder, let reason) = failure else { throw try #require(failure) }
            #expect(reason.lowercased().hasSuffix("read-only file system"))
        }
    }
}
