import JSONPath
import JournalConformance
import PipelineCore
import Testing

@testable import PipelineJournal

/// Pages, counts and changes over many jobs.
@Suite("What people look over many jobs with")
struct OverviewTests {
    private let owner = OwnerID("owner-a")

    private func withJournal(
        _ kind: JournalKind, _ body: (any DatabaseJournal) async throws -> Void
    ) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        try await body(journal)
        await journal.close()
    }

    /// A job whose upload is in a state; ended when the kind says so.
    private func make(
        _ number: Int, _ state: StepState, _ kind: JobEvent.Kind? = nil, in journal: any DatabaseJournal,
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

    private func ids(_ query: JobPageQuery, _ journal: any DatabaseJournal) async throws -> [JobID] {
        try await journal.page(query).map(\.snapshot.record.id)
    }

    @Test("items in a state that is not their usual end are found by the index of states")
    func items() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        await (try world.openSQLite()).close()
        // A statement that can't use the index that it names is an error.
        let parts = "\(ItemQueries.indexed)".split(separator: "FROM items", maxSplits: 1)
        let query = parts.joined(separator: "FROM items INDEXED BY items_by_state")
        try world.execute(query.replacing(/:[a-z]+/, with: "1"))
    }

    @Test("pages go by the key of their last job, and each phase finds its own", arguments: JournalKind.databases)
    func pages(kind: JournalKind) async throws {
        try await withJournal(kind) { journal in
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
            #expect(try await journal.runs(of: "selfie", limit: 2).map(\.outcome) == [.failed, .cancelled])
        }
    }

    @Test("a job whose items wait for a person is unknown, in lists and metrics", arguments: JournalKind.databases)
    func unknownItems(kind: JournalKind) async throws {
        try await withJournal(kind) { journal in
            let lost = StepState.unknown(AttemptState(), UnknownSubmit(key: "k", since: .at(3), reason: "lost"))
            var job = JobSnapshot.example(1)
            job.steps = [
                StepKey(stage: "model"): StepRecord(state: .running(AttemptState())), .model: StepRecord(state: lost),
            ]
            let lease = try await journal.create(job, events: [], owner: owner)
            try await journal.commit([.released(nil)], under: lease)
            #expect(try await ids(JobPageQuery(phase: .unknown), journal) == [job.record.id])
            #expect(try await journal.counts(JobPageQuery()) == [.unknown: 1])
            let gauges = try await journal.gauges(at: .at(10)).filter { $0.metric == .jobs }
            #expect(gauges.map { $0.labels[1] } == ["unknown"])
        }
    }

    @Test(
        "each commit with an event moves its job to the end of one sequence over the whole journal",
        arguments: JournalKind.databases)
    func changes(kind: JournalKind) async throws {
        try await withJournal(kind) { journal in
            let start = try await journal.lastChange()
            let first = try await make(1, .pending, in: journal)
            let mark = try await seen(first, after: start, journal)
            let second = try await make(2, .succeeded([:]), .jobSucceeded, in: journal)
            _ = try await seen(second, after: mark, journal)
            #expect(try await journal.changes(after: start, limit: 9).map(\.job) == [first, second])
            #expect(try await journal.changes(after: start, limit: 1).first?.job == first)
            #expect(try await journal.changes(after: mark, limit: 9).map(\.job) == [second])
            let last = try await journal.lastChange()
            #expect(try await journal.changes(after: last, limit: 9).isEmpty)
            _ = try await journal.remove(second)
            #expect(try await journal.lastChange() >= last, "it never falls")
        }
    }

    /// The number of a job's change once it is there to be read: in a database that others use too, not before all
    /// transactions that began earlier have ended.
    private func seen(_ job: JobID, after change: Int64, _ journal: any DatabaseJournal) async throws -> Int64 {
        for _ in 0..<2000 {
            if let found = try await journal.changes(after: change, limit: 9).last, found.job == job {
                return found.number
            }
        }
        Issue.record("the change of \(job) does not come")
        return change
    }

    @Test("a job that a person begins again has no outcome any more", arguments: JournalKind.databases)
    func reopened(kind: JournalKind) async throws {
        try await withJournal(kind) { journal in
            let job = try await make(1, .failed(StepFailure("no")), .jobFailed, in: journal)
            let lease = try await journal.acquire(job, for: owner)
            try await journal.commit([.reopened], under: lease)
            #expect(try await journal.counts(JobPageQuery())[.failed] == nil)
            #expect(try await ids(JobPageQuery(phase: .failed), journal).isEmpty)
        }
    }
}
