import JSONPath
import JournalConformance
import PipelineCore
import Testing

@testable import PipelineJournal

/// The law says which jobs go on by themselves; the statements that look for them say it again, since they choose an index.
@Suite("Jobs that go on by themselves")
struct OwnerlessJobTests {
    private let owner = OwnerID("owner-a")

    /// Those that an owner writes of a job; nil for one of which nothing is to be said.
    private let causes: [SuspensionCause?] = [nil, .interrupted, .paused, .noNetwork, .secret, .extension]

    private func make(
        _ number: Int, _ steps: [StepKey: StepState], _ mode: JobMode, _ end: JournalChange,
        in journal: any DatabaseJournal
    ) async throws -> JobID {
        var job = JobSnapshot.example(number)
        job.steps = steps.mapValues { StepRecord(state: $0) }
        let lease = try await journal.create(job, events: [], owner: owner)
        try await journal.commit([.taken(mode), end], under: lease)
        return lease.job
    }

    /// A batch of one item, which runs no longer, and the item's job.
    private func makeBatch(
        _ number: Int, isUnknown: Bool, _ mode: JobMode, _ cause: SuspensionCause?, stopped: SuspensionCause? = nil,
        aside: Bool = false, in journal: any DatabaseJournal
    ) async throws -> JobID {
        var job = JobSnapshot.example(number)
        job.steps = [:]
        let batch = BatchRecord(sources: ["x"], folder: "/", settings: BatchSettings())
        let lease = try await journal.create(batch, job: job, events: [], owner: owner)
        _ = try await journal.add(
            [NewItem(key: "a", line: nil, inputs: [:])], place: ReadingPlace(source: 0), isRead: true,
            known: KnownItemRule(), to: lease)
        var record = JobSnapshot.example(10_000 + number).record
        record.item = BatchItem(batch: lease.job, key: "a")
        let begun = try await journal.create(
            JobSnapshot(record: record, steps: [:], mode: .attached), events: [], owner: owner)
        try await journal.commit(
            [.item(ItemOutcome(isUnknown ? .unknown : .suspended)), .released(isUnknown ? nil : .paused)], under: begun)
        if let stopped { try await journal.stop(stopped, lease) }
        if aside {
            let other = NewItem(key: "b", line: nil, inputs: [:])
            _ = try await journal.add(
                [other], place: ReadingPlace(source: 0), isRead: true, known: KnownItemRule(), to: lease)
            var record = try #require(try await journal.batch(lease.job))
            record.place = nil
            try await journal.reread(lease, as: record, of: job.record)
            _ = try await journal.add(
                [NewItem(key: "a", line: nil, inputs: [:])], place: ReadingPlace(source: 0), isRead: true,
                known: KnownItemRule(), to: lease)
        }
        try await journal.commit([.taken(mode), .released(cause)], under: lease)
        return lease.job
    }

    private func makeAll(in journal: any DatabaseJournal) async throws -> [JobID] {
        let unknown = StepState.unknown(AttemptState(), UnknownSubmit(key: "k", since: .at(3), reason: "lost"))
        let waiting = StepState.waiting(AttemptState(), .at(.at(9)), WaitReason(.poll))
        // A repeated stage is running as long as an item is not done.
        let repeated: [StepKey: StepState] = [StepKey(stage: "model"): .running(AttemptState()), .model: unknown]
        let steps: [[StepKey: StepState]] = [
            [.upload: .pending], [.upload: waiting], [.upload: unknown], repeated,
            repeated.merging([StepKey(stage: "model", item: 4): waiting]) { $1 },
        ]
        var made: [JobID] = []
        for mode in JobMode.allCases {
            for steps in steps {
                for cause in causes {
                    made.append(try await make(made.count + 1, steps, mode, .released(cause), in: journal))
                    let asked = try await make(made.count + 1, steps, mode, .released(cause), in: journal)
                    made.append(asked)
                    _ = try await journal.post(.cancel, to: asked)
                }
            }
            made.append(try await make(made.count + 1, [.upload: .succeeded([:])], mode, .ended(.at(9)), in: journal))
            for isUnknown in [false, true] {
                for cause in causes {
                    for aside in [false, true] {
                        made.append(
                            try await makeBatch(
                                made.count + 1, isUnknown: isUnknown, mode, cause, aside: aside, in: journal))
                    }
                }
                for stopped in [SuspensionCause.tooManyFailures, .sameFailure, .spent] {
                    // Let go for that, or not yet when its owner died.
                    let ends: [(cause: SuspensionCause?, read: SuspensionCause?)] = [(.paused, stopped), (nil, nil)]
                    for end in ends {
                        let batch = try await makeBatch(
                            made.count + 1, isUnknown: isUnknown, mode, end.cause, stopped: stopped, in: journal)
                        made.append(batch)
                        #expect(try await journal.snapshot(of: batch)?.cause == end.read)
                    }
                }
            }
        }
        return made
    }

    /// Those of batches that had stopped were claimed or listed, and then left alone, by one of the two alone.
    @Test("are those that the journal finds for who looks for work", arguments: JournalKind.databases)
    func agree(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        var jobs: [JobSnapshot] = []
        for id in try await makeAll(in: journal) {
            jobs.append(try #require(try await journal.snapshot(of: id)))
        }
        let found: Set<JobID>
        if let shared = journal as? PostgresJournal {
            found = Set(try await shared.claimJobs(10_000, at: .at(1)))
        } else {
            found = Set(try await journal.backgroundJobs(at: .at(1)))
        }
        #expect(jobs.contains(where: \.goesOnByItself) && !jobs.allSatisfy(\.goesOnByItself))
        for job in jobs {
            // SQLite's leaves it to the owner to see that a job is unknown.
            if kind == .sqlite, job.phase(isOwned: false) == .unknown, job.request != .cancel { continue }
            let what = "\(job.mode) \(String(describing: job.cause)) \(job.phase(isOwned: false)) \(job.batch != nil)"
            #expect(found.contains(job.record.id) == job.goesOnByItself, "\(what)")
        }
        await journal.close()
    }
}
