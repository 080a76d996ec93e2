import JSONPath
import PipelineCore

/// The trials of what outlives jobs.
enum HistoryPromises {
    private static func open(
        _ world: any JournalWorld, _ check: ConformanceCheck
    ) throws -> any Journal & DurationHistory {
        try check.require(try world.open() as? any Journal & DurationHistory)
    }

    private static func sample(_ number: Int, stage: String = "model") -> StageSample {
        var sample = StageSample(
            pipeline: "selfie", stage: stage, ended: .at(Int64(number)), seconds: Double(number) + 0.5, earliest: 0.25,
            size: number % 2 == 0 ? nil : 1e9, polls: number, resumes: 2, bytes: 1 << 40, p50: 1.5, p90: nil,
            remainingError: -0.25, progressError: nil)
        sample.subject = number % 2 == 0 ? nil : "compute api.example.com"
        return sample
    }

    static func samples(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try open(world, check)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: OwnerID("a"))
        let all = (1...5).flatMap { [sample($0), sample($0, stage: "upload")] }
        try await journal.commit(all.map(JournalChange.sample), under: lease)
        check.expect(try await journal.samples(of: "selfie", limit: 2) == Array(all.suffix(4)))
        check.expect(try await journal.samples(of: "other", limit: 2).isEmpty)
        check.expect(try await journal.pipelines() == ["selfie"])
    }

    static func resumes(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        let journal = try open(world, check)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: OwnerID("a"))
        let rows = [
            ResumeRecord(
                time: .at(1), pipeline: "selfie", job: job.record.id, step: .model, reason: .poll, charge: .expedited,
                delay: .seconds(60), machineDelay: .milliseconds(1500), start: .at(5), isUnlimited: true),
            ResumeRecord(time: .at(9), pipeline: "selfie", job: job.record.id, step: nil, reason: .restart),
        ]
        try await journal.commit(rows.map(JournalChange.resume), under: lease)
        check.expect(try await journal.resumes(since: .at(0), of: nil) == rows)
        check.expect(try await journal.resumes(since: .at(2), of: "selfie") == [rows[1]])
        check.expect(try await journal.resumes(since: .at(0), of: "other").isEmpty)
        let first = try await journal.resumes(after: 0, since: .at(0))
        check.expect(first.records == rows)
        let none = ResumeRows(records: [], last: first.last)
        check.expect(try await journal.resumes(after: first.last, since: .at(0)) == none)
        let late = ResumeRecord(time: .at(3), pipeline: "other", job: job.record.id, step: nil, reason: .poll)
        try await journal.commit([.resume(late)], under: lease)
        check.expect(try await journal.resumes(after: first.last, since: .at(0)).records == [late])
        try await journal.commit([.ended(.at(10))], under: lease)
        try await journal.release(lease)
        _ = try await journal.remove(job.record.id)
        check.expect(try await journal.resumes(since: .at(0), of: nil).count == 3)
    }
}
