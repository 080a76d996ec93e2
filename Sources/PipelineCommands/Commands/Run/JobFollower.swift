import PipelineCore
import PipelineKit
import Synchronization

/// Follows jobs that other processes drive: what the journal keeps of them, and between that the progress which their
/// owners show.
struct JobFollower {
    private enum Turn: Sendable {
        case progress(JobEvent)
        /// Time to read the journal: of the jobs that have changed, or of all.
        case look(isWhole: Bool)
    }

    let workspace: Workspace
    let journal: Workspace.Journal
    /// The answer to whether a person looks on: then the jobs are attended.
    let interactivity: Interactivity
    /// The number of times that it looks though nobody says anything: an owner that was killed says nothing more.
    private static let interval = Duration.seconds(1)
    /// So long at least lies between two looks: a job of many items has many events.
    private static let gathering = Duration.milliseconds(50)

    init(_ workspace: Workspace, _ journal: Workspace.Journal, interactivity: Interactivity = .unattended) {
        self.workspace = workspace
        self.journal = journal
        self.interactivity = interactivity
    }

    /// Asks an owner to show what happens to the job, or to all of its jobs, and tells it whether a person looks on.
    func watch(_ job: JobID?, of owner: OwnerID) {
        if interactivity == .attended { _ = journal.attend(job, of: owner) }
        _ = journal.watch(job, of: owner)
    }

    /// Shows the events of a job, from the first, and with its plan how long what is at work still takes, until nobody
    /// owns it any more, nor will by itself, or `stops` ends; gives it as it is then.
    func follow(
        _ job: OwnedJob, plan: Plan? = nil, until stops: AsyncStream<Void>? = nil, show: (JobEvent) -> Void
    ) async throws -> OwnedJob {
        let id = job.snapshot.record.id
        var last = 0
        var expected: [JobEvent] = []
        if let plan { expected = try await expectations(of: job.snapshot, plan) }
        try await awaitTaking(of: job)
        try await repeatedly(show, until: stops) { _ in
            // Looked at before the events, so that the last of them are shown too.
            let latest = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first
            let owner = latest?.owner
            if let owner { watch(id, of: owner) }
            for event in try await journal.events(of: id, after: last) {
                last = event.sequence ?? last
                show(event)
            }
            expected.forEach(show)
            expected = []
            return owner != nil || latest.map(goesOnByItself) == true
        }
        return try await journal.jobs(JobQuery(prefix: id.text)).first ?? job
    }

    /// Shows the events of all jobs that are driven somewhere, those that begin meanwhile too, until none is.
    ///
    /// - Parameter first: a job that is shown as ``follow(_:plan:until:show:)`` shows it, also when nobody drives it.
    /// - Returns: the jobs that were shown.
    func followAll(
        from first: (job: OwnedJob, plan: Plan)? = nil, show: (JobEvent) -> Void
    ) async throws -> some Collection<JobID> {
        var shown: [JobID: Int] = [:]
        var expected: [JobEvent] = []
        if let first {
            shown[first.job.snapshot.record.id] = 0
            expected = try await expectations(of: first.job.snapshot, first.plan)
            try await awaitTaking(of: first.job)
        }
        /// Shows what is new of these jobs; whether one of them has come to rest.
        func read(_ jobs: some Collection<JobID>) async throws -> Bool {
            var hasRested = false
            for id in jobs.sorted(by: { $0.text < $1.text }) {
                for event in try await journal.events(of: id, after: shown[id] ?? 0) {
                    shown[id] = event.sequence ?? shown[id]
                    hasRested = hasRested || event.kind.endsDrive
                    show(event)
                }
            }
            return hasRested
        }
        try await repeatedly(show) { changed in
            // Of thousands of jobs only those that the owners named are read, but for once a second.
            if let changed, try await !read(changed) { return true }
            let driven = try await journal.jobs(JobQuery(isUnfinished: true, isBrief: true)).filter { $0.owner != nil }
            var owners = Set(driven.compactMap(\.owner))
            var isAwaited = false
            if driven.isEmpty, let id = first?.job.snapshot.record.id.text,
                let latest = try await journal.jobs(JobQuery(prefix: id, isBrief: true)).first
            {
                // One that has ended may still have an owner, who tells people of it.
                if let owner = latest.owner { owners.insert(owner) }
                isAwaited = latest.owner != nil || goesOnByItself(latest)
            }
            for owner in owners { watch(nil, of: owner) }
            _ = try await read(Set(shown.keys).union(driven.map(\.snapshot.record.id)))
            expected.forEach(show)
            expected = []
            return !driven.isEmpty || isAwaited
        }
        return shown.keys
    }

    /// Calls `look` now, whenever the journal has something new of the jobs that it is given, and once a second with
    /// nil, until it is false or `stops` ends; shows progress as it comes.
    func repeatedly(
        _ show: (JobEvent) -> Void, until stops: AsyncStream<Void>? = nil, _ look: (Set<JobID>?) async throws -> Bool
    ) async throws {
        let (stream, turns) = AsyncStream<Turn>.makeStream()
        let changed = ChangedJobs()
        let news = journal.news()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await item in news {
                    switch item {
                    case .event(let event): turns.yield(.progress(event))
                    case .changed(let job): if changed.add(job) { turns.yield(.look(isWhole: false)) }
                    }
                }
            }
            group.addTask {
                while true {
                    try await Self.pause(Self.interval)
                    turns.yield(.look(isWhole: true))
                }
            }
            if let stops {
                group.addTask {
                    for await _ in stops {}
                    turns.finish()
                }
            }
            defer { group.cancelAll() }
            guard try await look(nil) else { return }
            for await turn in stream {
                switch turn {
                case .progress(let event): show(event)
                case .look(let isWhole):
                    guard try await look(isWhole ? nil : changed.take()) else { return }
                    if !isWhole { try await Self.pause(Self.gathering) }
                }
            }
            try Task.checkCancellation()
        }
    }

    static func pause(_ duration: Duration) async throws {
        let clock = SystemClock()
        try await clock.sleep(until: clock.now + duration)
    }
}

/// The jobs of which there is something new to read.
private final class ChangedJobs: Sendable {
    private let jobs = Mutex<Set<JobID>>([])

    /// True for the first since they were taken.
    func add(_ job: JobID) -> Bool {
        jobs.withLock { jobs in
            defer { jobs.insert(job) }
            return jobs.isEmpty
        }
    }

    func take() -> Set<JobID> {
        jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }
}

extension JobEvent.Kind {
    /// True if the job has no owner any more after it.
    fileprivate var endsDrive: Bool {
        switch self {
        case .jobSuspended, .jobSucceeded, .jobFailed, .jobCancelled, .stageUnknown: true
        default: false
        }
    }
}
