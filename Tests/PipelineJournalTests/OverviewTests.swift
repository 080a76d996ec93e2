import JSONPath
import PipelineCore
import Testing

@testable import PipelineJournal

/// Pages, counts and changes over many jobs.
@Suite("What people look over many jobs with")
struct OverviewTests {
    private let owner = OwnerID("owner-a")

    private func withJournal(_ body: (SQLiteJournal) async throws -> Void) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        try await body(journal)
        await journal.close()
    }

    /// A job whose upload is in a state; ended when the kind says so.
    private func make(
        _ number: Int, _ state: StepState, _ kind: JobEvent.Kind? = nil, in journal: SQLiteJournal,
        pipeline: String = "selfie", releases: Bool = false
    ) async throws -> JobID {
        var job = JobSnapshot.example(number, pipeline: pipeline)
        job.steps[.model] = nil
        job.steps[.upload] = StepRecord(state: state)
        let lease = try await journal.create(job, events: [job.event(1, .jobStarted, step: nil)], owner: owner)
        if let kind {
            try await journal.commit([.ended(.at(50)), .event(job.event(2, kind, step: nil))], under: lease)
        } else if releases {
            try await journal.commit([.released(.paused)], under: lease)
        }
        return job.record.id
    }

    private func ids(_ query: JobPageQuery, _ journal: SQLiteJournal) async throws -> [JobID] {
        try await journal.page(query).map(\.snapshot.record.id)
    }

    @Test("pages go by the key of their last job, and each phase finds its own")
    func pages() async throws {
        try await withJournal { journal in
            let attempt = AttemptState()
            let waits = StepState.waiting(attempt, .at(.at(9)), WaitReason(.poll))
            let made = [
                try await make(1, .succeeded([:]), .jobSucceeded, in: journal),
                try await make(2, .failed(StepFailure("no 100% credit")), .jobFailed, in: journal),
                try await make(3, .running(attempt), in: journal),
                try await make(4, waits, in: journal, pipeline: "other"),
                try await make(5, waits, in: journal, releases: true),
                try await make(6, .cancelled, .jobCancelled, in: journal),
            ]
            #expect(try await ids(JobPageQuery(limit: 4), journal) == made.reversed().prefix(4).map(\.self))
            #expect(try await ids(JobPageQuery(before: made[2], limit: 4), journal) == [made[1], made[0]])
            for (phase, place) in [
                (JobPhase.succeeded, 0), (.failed, 1), (.running, 2), (.waiting, 3), (.suspended, 4), (.cancelled, 5),
            ] {
                #expect(try await ids(JobPageQuery(phase: phase), journal) == [made[place]], "\(phase)")
            }
            #expect(
                try await journal.counts(JobPageQuery()) == [
                    .succeeded: 1, .failed: 1, .running: 1, .waiting: 1, .suspended: 1, .cancelled: 1,
                ])
            #expect(try await journal.counts(JobPageQuery(pipeline: "other")) == [.waiting: 1])
            #expect(try await ids(JobPageQuery(pipeline: "other"), journal) == [made[3]])
            #expect(try await ids(JobPageQuery(text: "00% CREDIT"), journal) == [made[1]], "the error of a failed job")
            #expect(try await ids(JobPageQuery(text: "0_% credit"), journal).isEmpty, "signs of LIKE are letters")
            #expect(try await ids(JobPageQuery(text: made[4].text), journal) == [made[4]])
            #expect(try await ids(JobPageQuery(since: .at(5)), journal) == [made[5], made[4]])
            #expect(try await journal.owners() == [OwnerSummary(owner: owner, isAlive: true, jobs: 2)])
            #expect(try await journal.runs(of: "selfie", limit: 2).map(\.job) == [made[1], made[5]])
        }
    }

    @Test("each commit with an event moves its job to the end of one sequence over the whole journal")
    func changes() async throws {
        try await withJournal { journal in
            #expect(try await journal.lastChange() == 0)
            let first = try await make(1, .pending, in: journal)
            let mark = try await journal.lastChange()
            let second = try await make(2, .succeeded([:]), .jobSucceeded, in: journal)
            #expect(try await journal.changes(after: 0, limit: 9).map(\.job) == [first, second])
            #expect(try await journal.changes(after: mark, limit: 9).map(\.job) == [second])
            let last = try await journal.lastChange()
            #expect(try await journal.changes(after: last, limit: 9).isEmpty)
            try await journal.remove(second)
            #expect(try await journal.lastChange() == last, "it never falls")
        }
    }

    @Test("a job that a person begins anew has no outcome any more")
    func reopened() async throws {
        try await withJournal { journal in
            let job = try await make(1, .failed(StepFailure("no")), .jobFailed, in: journal)
            let lease = try await journal.acquire(job, for: owner)
            try await journal.commit([.reopened], under: lease)
            #expect(try await journal.counts(JobPageQuery())[.failed] == nil)
            #expect(try await ids(JobPageQuery(phase: .failed), journal).isEmpty)
        }
    }
}
