import PipelineCore
import PipelineKit
import Synchronization

/// Shows several jobs that run side by side: on a terminal a line for each, elsewhere a line for each that comes to rest
/// and now and then how many have; at the end a summary.
///
/// Lines of a job carry its name, and those of one report stand together.
final class JobsView: Sendable {
    private struct State {
        /// Of those that were begun and have not come to rest.
        var names: [JobID: String] = [:]
        /// The jobs of which a first failed attempt was told.
        var isTried: Set<JobID> = []
        /// What the polls of each failed by, as it was told last.
        var troubles: [JobID: String] = [:]
        var statuses: [ExitStatus: Int] = [:]
        /// The data that is written once the live view is gone.
        var heldData: [String] = []

        func name(_ job: JobID) -> String { names[job] ?? job.text }
        var done: Int { statuses.values.reduce(0, +) }
    }

    private let console: Console
    private let options: JobSession.Options
    private let total: Int
    private let live: LiveView?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - total: how many jobs there are.
    ///   - clock: the clock by which they run.
    init(_ console: Console, _ options: JobSession.Options, total: Int, clock: any WallClock) {
        self.console = console
        self.options = options
        self.total = total
        let isLive = console.isTerminal && !options.isPlain && !options.isJSON
        live = isLive ? LiveView(console: console, stages: [], clock: clock) : nil
    }

    /// The statuses of the jobs that came to rest.
    var statuses: [ExitStatus] { state.withLock { Array($0.statuses.keys) } }

    /// Remembers what the job is called.
    func begin(_ job: JobRecord) {
        let name = job.key == job.id.text ? "\(job.pipeline) \(job.id)" : job.key
        state.withLock { $0.names[job.id] = name }
    }

    func show(_ event: JobEvent) {
        if options.isJSON { return console.data(event.json.text) }
        if let live {
            let name = state.withLock { $0.name(event.job) }
            if let shown = event.asLine(of: name) { live.show(shown) }
            return
        }
        let isOldNews = state.withLock { state in
            guard event.kind == .stageWaiting else { return false }
            defer { state.troubles[event.job] = event.trouble }
            return event.trouble == state.troubles[event.job]
        }
        if isOldNews { return }
        guard let line = EventLine(event).text else { return }
        state.withLock { state in
            switch event.kind {
            case .stageWarned, .resumeDeferred: break
            case .attemptFailed: guard state.isTried.insert(event.job).inserted else { return }
            case .stageWaiting where event.trouble != nil: break
            default: return
            }
            console.note("\(state.name(event.job)): \(line)")
        }
    }

    /// Shows a line that belongs to no job; false without a terminal.
    @discardableResult func note(_ line: StyledText) -> Bool {
        if let live { live.note(line) } else { console.note(line) }
        return console.isTerminal
    }

    /// Shows a line about a job.
    func note(_ line: String, of job: JobID) {
        let name = state.withLock { $0.name(job) }
        note(StyledText(message: "\(name): \(line)"))
    }

    /// Tells how a job came to rest.
    func end(_ job: JobID, _ report: EndReport) {
        state.withLock { state in
            let name = state.name(job)
            state.names[job] = nil
            state.isTried.remove(job)
            state.troubles[job] = nil
            state.statuses[report.status, default: 0] += 1
            if live == nil { report.data.forEach(console.data) } else { state.heldData += report.data }
            let (word, style) = report.status.word
            let lines = ["\(name): \(word, style)" as StyledText] + report.notes.map { "  \($0)" }
            for line in lines { note(line) }
        }
    }

    /// One line of how far they are; nothing on a terminal, which shows that.
    func showProgress() {
        guard live == nil, !options.isJSON else { return }
        let (done, begun) = state.withLock { ($0.done, $0.names.count) }
        console.note("\(done) of \(total) jobs done, \(begun) begun")
    }

    /// Takes the live view away, and says how many came to which end.
    func finish() {
        live?.finish()
        state.withLock { state in
            state.heldData.forEach(console.data)
            var parts = state.statuses.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key.word.0)" }
            if state.done < total { parts.append("\(total - state.done) not begun") }
            console.note("\(total) jobs: \(parts.joined(separator: ", "))")
        }
    }
}

extension ExitStatus {
    /// The state that it stands for, and its colour.
    fileprivate var word: (String, StyledText.Style) {
        switch self {
        case .succeeded: ("succeeded", .green)
        case .failed: ("failed", .red)
        case .invalid, .usage: ("not begun", .red)
        case .unknown: ("unknown", .yellow)
        case .suspended, .interrupted: ("suspended", .yellow)
        }
    }
}

extension JobEvent {
    /// The event as one of a line that stands for the whole job; nil for what such a line does not show.
    fileprivate func asLine(of name: String) -> JobEvent? {
        let shown: Kind? =
            switch kind {
            case .jobStarted, .jobResumed: .stageStarted
            case .jobSucceeded: .stageSucceeded
            case .jobFailed: .stageFailed
            case .jobCancelled: .stageCancelled
            case .jobSuspended: .stageWaiting
            case .stageStarted, .stageResumed, .stageWaiting, .stageUnknown, .stageWarned, .attemptFailed,
                .transferProgress, .estimateChanged, .resumeDeferred:
                kind
            case .stageSucceeded, .stageFailed, .stageCancelled, .stageSkipped, .notificationSent: nil
            }
        return shown.map {
            JobEvent(
                sequence: sequence, time: time, kind: $0, job: job, pipeline: pipeline, step: StepKey(stage: name),
                attempt: attempt, data: data)
        }
    }
}
