import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

/// What outlives jobs, held against every journal.
@Suite("The history of every journal")
struct HistoryConformanceTests {
    private static func open(_ world: any JournalWorld) throws -> any Journal & DurationHistory {
        try #require(try world.open() as? any Journal & DurationHistory)
    }

    private static func sample(_ number: Int, stage: String = "model") -> StageSample {
        var sample = StageSample(
            pipeline: "selfie", stage: stage, ended: .at(Int64(number)), seconds: Double(number) + 0.5, earliest: 0.25,
            size: number % 2 == 0 ? nil : 1e9, polls: number, resumes: 2, bytes: 1 << 40, p50: 1.5, p90: nil,
            remainingError: -0.25, progressError: nil)
        sample.subject = number % 2 == 0 ? nil : "compute api.example.com"
        return sample
    }

    @Test("gives samples back, of each stage the last ones, oldest first", arguments: JournalKind.allCases)
    func samples(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try Self.open(world)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: OwnerID("a"))
        let all = (1...5).flatMap { [Self.sample($0), Self.sample($0, stage: "upload")] }
        try await journal.commit(all.map(JournalChange.sample), under: lease)
        #expect(try await journal.samples(of: "selfie", limit: 2) == Array(all.suffix(4)))
        #expect(try await journal.samples(of: "other", limit: 2).isEmpty)
        #expect(try await journal.pipelines() == ["selfie"])
    }

    @Test("gives the ledger's rows back, and keeps them when their job is removed", arguments: JournalKind.allCases)
    func resumes(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try Self.open(world)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: OwnerID("a"))
        let rows = [
            ResumeRecord(
                time: .at(1), pipeline: "selfie", job: job.record.id, step: .model, reason: .poll, charge: .expedited,
                delay: .seconds(60), machineDelay: .milliseconds(1500), start: .at(5), isUnlimited: true),
            ResumeRecord(time: .at(9), pipeline: "selfie", job: job.record.id, step: nil, reason: .restart),
        ]
        try await journal.commit(rows.map(JournalChange.resume), under: lease)
        #expect(try await journal.resumes(since: .at(0), of: nil) == rows)
        #expect(try await journal.resumes(since: .at(2), of: "selfie") == [rows[1]])
        #expect(try await journal.resumes(since: .at(0), of: "other").isEmpty)
        let first = try await journal.resumes(after: 0, since: .at(0))
        #expect(first.records == rows)
        let none = ResumeRows(records: [], last: first.last)
        #expect(try await journal.resumes(after: first.last, since: .at(0)) == none)
        let late = ResumeRecord(time: .at(3), pipeline: "other", job: job.record.id, step: nil, reason: .poll)
        try await journal.commit([.resume(late)], under: lease)
        #expect(try await journal.resumes(after: first.last, since: .at(0)).records == [late])
        try await journal.commit([.ended(.at(10))], under: lease)
        try await journal.release(lease)
        try await journal.remove(job.record.id)
        #expect(try await journal.resumes(since: .at(0), of: nil).count == 3)
    }
}
