import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

@Suite("A batch that is taken up")
struct BatchTakingTests {
    private let id = JobID("0j")

    private func makeBatch(in journal: MemoryJournal) async throws {
        let record = JobRecord(
            id: id, pipeline: "two", key: "june", started: .epoch, source: "", sourceName: "two.json", digest: "two",
            inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let started = JobEvent(sequence: 1, time: .epoch, kind: .jobStarted, job: id, pipeline: "two")
        let lease = try await journal.create(
            BatchRecord(sources: [], folder: "/", settings: BatchSettings()),
            job: JobSnapshot(record: record, steps: [:], mode: .attached), events: [started], owner: OwnerID("first"))
        try await journal.release(lease)
    }

    private func acquire(in journal: MemoryJournal) async throws(JournalFailure) -> Lease {
        try await journal.acquireBatch(
            id, .background, reopens: false, for: OwnerID("second"), at: .epoch)
    }

    @Test("has the event that says so after all that were written before")
    func numbers() async throws {
        let journal = MemoryJournal()
        try await makeBatch(in: journal)
        try await journal.release(try await acquire(in: journal))
        _ = try await acquire(in: journal)
        let job = try await journal.snapshot(of: id)
        #expect(job?.sequence == 3 && job?.mode == .background)
    }

    /// The command that resumed it kept it until it ended.
    @Test("is let go when that can't be written")
    func letsGo() async throws {
        let journal = MemoryJournal(beforeCommit: { lease, _ throws(JournalFailure) in
            if lease.epoch == 2 { throw .full(folder: "/state") }
        })
        try await makeBatch(in: journal)
        await #expect(throws: JournalFailure.full(folder: "/state")) { _ = try await acquire(in: journal) }
        #expect(try await acquire(in: journal).epoch == 3)
    }
}
