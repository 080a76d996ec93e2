package import PipelineCore
package import PipelineHTTP
import Synchronization

/// Sends the spans of jobs to a collector, from the journal and next to all work: a collector that is away delays no job.
///
/// What has ended is read from the journal's events, with ids that follow from the job, so it does not matter which
/// process exports it, or when. How far a job was exported is kept once the collector has it; a kill between the two
/// sends the same spans, with the same ids, once more.
package final class TraceExporter: Sendable {
    /// The journal that the exporter reads, and keeps its place in.
    package typealias Source = Journal & TraceJournal

    private struct State {
        /// The jobs of which the journal may not know yet that they are exported.
        var unrecorded: Set<JobID> = []
        /// The jobs of which something may be left to send.
        var jobs: Set<JobID> = []
        /// The histories of jobs that go on, with the sequence that each was exported up to: what is sent next costs what is
        /// new, however long the job is.
        var histories: [JobID: (exported: Int, history: JobHistory)] = [:]
        var isWorking = false
        /// True if nothing more comes, and those who wait should not wait for long.
        var isHurried = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var failures = 0
        /// The reasons that were told.
        var reasons: Set<String> = []
    }

    private let sender: SpanSender
    private let warn: @Sendable (String) -> Void
    private let link: TraceLink?
    private let source: any Source
    private let owner: OwnerID
    private let exchanges: @Sendable (JobID) -> [ExchangeRecord]
    private let state = Mutex(State())
    private let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let (arrivals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Jobs that end things close after another are exported together.
    private static let patience = Duration.milliseconds(200)
    private static let longestPause = Duration.seconds(60)
    /// A collector takes 4 MiB by default.
    private static let largestRequest = 1000
    private static let mostReasons = 8
    private static let mostHistories = 64

    /// Nil when the environment names no collector, or in a way that can't work. From here on it works by itself, until
    /// ``finish(within:)``.
    ///
    /// - Parameters:
    ///   - exchanges: what a job sent and was answered, as far as it was kept.
    ///   - owner: the name under which this process owns jobs.
    ///   - warn: is told in words why spans can't be sent, or are lost; each reason once.
    package init?(
        environment: [String: String], version: String, network: Network, source: any Source, owner: OwnerID,
        exchanges: @escaping @Sendable (JobID) -> [ExchangeRecord], warn: @escaping @Sendable (String) -> Void
    ) {
        guard let settings = TraceSettings(environment: environment, version: version) else { return nil }
        if let mistake = settings.mistake {
            warn(mistake)
            return nil
        }
        sender = SpanSender(settings: settings, version: version, network: network)
        self.warn = warn
        self.source = source
        self.owner = owner
        self.exchanges = exchanges
        link = environment["TRACEPARENT"].flatMap { TraceLink($0) }
        // The two tasks of its own: they belong to no command and no job, and hold neither up.
        Task.detached { [weak self, arrivals] in
            for await _ in arrivals {
                guard let self else { return }
                await self.recordJobs()
            }
        }
        Task.detached { [weak self, wakes] in
            await self?.addOpenJobs()
            for await _ in wakes {
                guard let self else { return }
                await self.work()
            }
        }
    }

    deinit {
        wake.finish()
        arrival.finish()
    }

    /// Takes note of an event of a job of this process; returns at once.
    package func take(_ event: JobEvent) {
        switch event.kind {
        case .jobStarted, .jobResumed, .jobSucceeded, .jobFailed, .jobCancelled, .stageSucceeded, .stageFailed,
            .stageCancelled,
            .stageSkipped:
            state.withLock { _ = $0.unrecorded.insert(event.job) }
            arrival.yield()
        case .jobSuspended, .stageStarted, .stageWaiting, .stageResumed, .stageUnknown, .stageWarned,
            .attemptFailed, .transferProgress, .estimateChanged, .resumeDeferred, .notificationSent:
            break
        }
    }

    /// Returns once all was sent, at the first failure, or when the time is over: what is left goes with the next owner.
    package func finish(within limit: Duration) async {
        state.withLock { $0.isHurried = true }
        wake.yield()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await Task.sleep(for: limit)
                self.release()
            }
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.unrecorded.isEmpty, state.jobs.isEmpty, !state.isWorking { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
            group.cancelAll()
        }
    }

    private func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Working

    /// Adds what earlier owners have left, but for jobs that another process has.
    private func addOpenJobs() async {
        guard let open = try? await source.openTraces(limit: 1000), !open.isEmpty else { return }
        for job in open {
            let found = try? await source.jobs(JobQuery(prefix: job.text, isBrief: true)).first
            guard let found, found.owner == nil || found.owner == owner else { continue }
            state.withLock { _ = $0.jobs.insert(job) }
        }
        wake.yield()
    }

    /// Has the journal know of each job that it is exported, while the collector is not asked yet: the next owner finds all
    /// of them, however many are left when the process ends.
    private func recordJobs() async {
        while let job = state.withLock({ $0.unrecorded.first }) {
            do throws(JournalFailure) {
                if try await source.traceCursor(of: job) == nil {
                    try await source.keep(TraceCursor(link: link), of: job)
                }
            } catch {
                // The job is gone, or the journal is closed, which its export finds too.
            }
            state.withLock { state in
                state.unrecorded.remove(job)
                state.jobs.insert(job)
            }
        }
        wake.yield()
    }

    private func work() async {
        let isHurried = state.withLock { $0.isHurried }
        if !isHurried { try? await Task.sleep(for: Self.patience) }
        let jobs = state.withLock { state in
            defer { state.jobs = [] }
            state.isWorking = true
            return state.jobs.sorted()
        }
        var left = jobs[...]
        while let job = left.first {
            guard await export(job) else { break }
            left.removeFirst()
        }
        let (pause, mayRest) = state.withLock { state -> (Duration?, Bool) in
            state.isWorking = false
            state.jobs.formUnion(left)
            state.failures = left.isEmpty ? 0 : state.failures + 1
            let pause = Duration.seconds(1) * (1 << min(state.failures, 6))
            let mayRest = state.unrecorded.isEmpty && (!left.isEmpty || state.jobs.isEmpty)
            return (left.isEmpty ? nil : min(pause, Self.longestPause), mayRest)
        }
        if mayRest { release() }
        guard let pause else { return }
        try? await Task.sleep(for: pause)
        wake.yield()
    }

    /// Sends spans; false when that can't be now.
    private func send(_ spans: [Span]) async -> Bool {
        for start in stride(from: 0, to: spans.count, by: Self.largestRequest) {
            switch await sender.send(Array(spans[start..<min(spans.count, start + Self.largestRequest)])) {
            case .taken: break
            case .refused(let reason): report(reason)
            case .postponed(let reason):
                report(reason)
                return false
            }
        }
        return true
    }

    /// Sends what has ended in a job since it was exported last; false when that can't be now.
    private func export(_ job: JobID) async -> Bool {
        do throws(JournalFailure) {
            var cursor = try await source.traceCursor(of: job) ?? TraceCursor(link: link)
            var history = takeHistory(of: job, exported: cursor.sequence)
            var ends: [(end: JobHistory.End, jobRun: Int, sequence: Int)] = []
            for event in try await source.events(of: job, after: history.sequence) {
                let end = history.take(event)
                if let end, history.sequence > cursor.sequence {
                    ends.append((end, history.runNumber, history.sequence))
                }
            }
            if ends.isEmpty, cursor.isWhole == history.isOver {
                keep(history, of: job, exported: cursor.sequence)
                return true
            }
            let maker = SpanMaker(job: job, pipeline: history.pipeline, link: cursor.link)
            var spans: [Span] = []
            let records = Dictionary(grouping: ends.isEmpty ? [] : exchanges(job), by: \.step)
            for (end, jobRun, sequence) in ends {
                let more =
                    switch end {
                    case .step(let run): maker.spans(of: run, jobRun: jobRun, exchanges: records[run.step] ?? [])
                    case .job(let run): [maker.span(of: run)]
                    }
                if !spans.isEmpty, spans.count + more.count > Self.largestRequest {
                    guard await send(spans) else { return false }
                    // A later request that fails sends none of these again.
                    spans = []
                    try await source.keep(cursor, of: job)
                }
                spans += more
                cursor.sequence = sequence
            }
            guard await send(spans) else { return false }
            cursor.sequence = history.sequence
            cursor.isWhole = history.isOver
            try await source.keep(cursor, of: job)
            keep(history, of: job, exported: cursor.sequence)
            return true
        } catch {
            // Of a job that is gone, or a journal that is closed, nothing can be exported any more.
            return !error.mayPass
        }
    }

    /// The history of a job as far as it is exported; one that is empty where another process exported it, or none is kept.
    private func takeHistory(of job: JobID, exported sequence: Int) -> JobHistory {
        let kept = state.withLock { $0.histories.removeValue(forKey: job) }
        return kept.flatMap { $0.exported == sequence ? $0.history : nil } ?? JobHistory()
    }

    private func keep(_ history: JobHistory, of job: JobID, exported sequence: Int) {
        guard !history.isOver else { return }
        state.withLock { state in
            // Any of them does: it is read again from the journal.
            if state.histories.count >= Self.mostHistories { _ = state.histories.popFirst() }
            state.histories[job] = (sequence, history)
        }
    }

    /// Tells what speaks against an export, each reason once.
    private func report(_ reason: String) {
        let isNew = state.withLock { state in
            guard state.reasons.count < Self.mostReasons else { return false }
            return state.reasons.insert(reason).inserted
        }
        if isNew { warn(reason) }
    }
}
