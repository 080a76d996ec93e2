import JSONPath
import JournalConformance
import PipelineCore
import Testing

@testable import PipelineJournal

@Suite("Another document of a job")
struct AdoptedDocumentTests {
    private let owner = OwnerID("owner-a")

    @Test("is kept with its inputs and variables; steps and who has the job stay", arguments: JournalKind.databases)
    func adopted(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: owner)
        let before = try #require(try await journal.snapshot(of: lease.job))
        let old = before.record
        let record = JobRecord(
            id: old.id, pipeline: old.pipeline, key: old.key, started: old.started, source: "{ }",
            sourceName: old.sourceName, digest: "another", inputs: ["a": 1], environment: ["B": "c"],
            folders: old.folders, overwrites: old.overwrites, beginning: old.beginning)
        try await journal.adopt(record, under: lease)
        let after = try #require(try await journal.snapshot(of: lease.job))
        #expect(after.record.source == "{ }" && after.record.digest == "another")
        #expect(after.record.inputs == ["a": 1] && after.record.environment == ["B": "c"])
        #expect(after.steps == before.steps && after.submits == before.submits && after.sequence == before.sequence)
        try await journal.release(lease)
        await #expect(throws: JournalFailure.stale) { try await journal.adopt(old, under: lease) }
        #expect(try await journal.snapshot(of: lease.job)?.record.digest == "another")
    }
}
