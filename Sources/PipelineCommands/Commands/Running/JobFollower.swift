import PipelineCore
import PipelineKit

/// Follows jobs that other processes drive: what the journal keeps of them, and between that the progress which their
/// owners show.
struct JobFollower {
    private enum Turn: Sendable {
        case progress(JobEvent)
        /// Time to read the journal.
        case look
    }

    private let workspace: Workspace
    private let journal: Workspace.Journal
    /// How often it looks though nobody says anything: an owner that was killed says nothing more.
    private static let interval = Duration.seconds(1)
    /// So long at least lies between two looks: a job of many items has many events.
    private static let gathering = Duration.milliseconds(50)

    /// A job that the background owner is about to take up is waited for so often, so long.
    private static let patience = (times: 60, pause: Duration.milliseconds(50))

    init(_ workspace: Workspace, _ journal: Workspace.Journal) {
        self.workspace = workspace
        self.journal = journal
    }

    /// Shows the events of a job, from the first, and with its plan how long what is at work still takes, until nobody
    /// owns it any more; gives it as it is then.
    func follow(_ job: OwnedJob, plan: Plan? = nil, show: (JobEvent) -> Void) async throws -> OwnedJob {
        let id = job.snapshot.record.id
        var last = 0
        var expected: [JobEvent] = []
        if let plan { expected = try await expectations(of: job.snapshot, plan) }
        try await awaitTaking(of: job)
        try await repeatedly(show) {
            // Looked at before the events, so that the last of them are shown too.
            let owner = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first?.owner
            if let owner { _ = journal.watch(id, of: owner) }
            for event in try await journal.events(of: id, after: last) {
                last = event.sequence ?? last
                show(event)
            }
            expected.forEach(show)
            expected = []
            return owner != nil
        }
        return try await journal.jobs(JobQuery(prefix: id.text)).first ?? job
    }

    /// What the owner foretold before anybody watched, from the same history.
    private func expectations(of job: JobSnapshot, _ plan: Plan) async throws -> [JobEvent] {
        let samples = try await workspace.samples(of: job.record.pipeline)
        let now = SystemClock().now
        return plan.stages.compactMap { stage in
            let key = StepKey(stage: stage.id)
            guard let step = job.steps[key], [.running, .waiting].contains(step.state.name), let started = step.started
            else { return nil }
            let outlook = StageOutlook(samples: samples[stage.id] ?? [], guess: stage.estimate?.constant?.seconds)
            return Estimate(outlook, elapsed: max(0, (now - started).seconds)).map { estimate in
                JobEvent(
                    sequence: nil, time: now, kind: .estimateChanged, job: job.record.id,
                    pipeline: job.record.pipeline, step: key, attempt: step.attempts, data: estimate.data)
            }
        }
    }

    /// What was just handed to the background owner is not suspended, only not yet taken up.
    private func awaitTaking(of job: OwnedJob) async throws {
        guard Self.isToBeTaken(job), (try? BackgroundOwner(settings: workspace.settings).ask(.status)) != nil else {
            return
        }
        for _ in 0..<Self.patience.times {
            let query = JobQuery(prefix: job.snapshot.record.id.text, isBrief: true)
            guard let latest = try await journal.jobs(query).first, Self.isToBeTaken(latest) else { return }
            try await Self.pause(Self.patience.pause)
        }
    }

    private static func isToBeTaken(_ job: OwnedJob) -> Bool {
        job.owner == nil && job.snapshot.ended == nil && job.snapshot.mode == .background && job.snapshot.cause == nil
            && job.snapshot.phase(isOwned: false) == .suspended
    }

    /// Shows the events of all jobs that are driven somewhere, those that begin meanwhile too, until none is.
    func followAll(show: (JobEvent) -> Void) async throws {
        var shown: [JobID: Int] = [:]
        try await repeatedly(show) {
            let driven = try await journal.jobs(JobQuery(isUnfinished: true, isBrief: true)).filter { $0.owner != nil }
            for owner in Set(driven.compactMap(\.owner)) { _ = journal.watch(nil, of: owner) }
            for id in Set(shown.keys).union(driven.map(\.snapshot.record.id)).sorted(by: { $0.text < $1.text }) {
                for event in try await journal.events(of: id, after: shown[id] ?? 0) {
                    shown[id] = event.sequence ?? shown[id]
                    show(event)
                }
            }
            return !driven.isEmpty
        }
    }

    /// Calls `look` now, whenever the journal has something new, and once a second, until it is false; shows progress
    /// as it comes.
    private func repeatedly(_ show: (JobEvent) -> Void, _ look: () async throws -> Bool) async throws {
        let (stream, turns) = AsyncStream<Turn>.makeStream()
        let (looks, wish) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let news = journal.news()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await item in news {
                    switch item {
                    case .event(let event): turns.yield(.progress(event))
                    case .changed: wish.yield()
                    }
                }
            }
            group.addTask {
                for await _ in looks {
                    turns.yield(.look)
                    try await Self.pause(Self.gathering)
                }
            }
            group.addTask {
                while true {
                    try await Self.pause(Self.interval)
                    wish.yield()
                }
            }
            defer { group.cancelAll() }
            guard try await look() else { return }
            for await turn in stream {
                switch turn {
                case .progress(let event): show(event)
                case .look: guard try await look() else { return }
                }
            }
            try Task.checkCancellation()
        }
    }

    private static func pause(_ duration: Duration) async throws {
        let clock = SystemClock()
        try await clock.sleep(until: clock.now + duration)
    }
}
