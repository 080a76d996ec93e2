import JSONPath
import Logging
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// The batches that a background owner has. Their items are jobs among its other jobs, and on a journal that machines share
/// among those of all workers.
final class DaemonBatches: Sendable {
    private struct State {
        var runners: [JobID: BatchRunner] = [:]
        var tasks: [JobID: Task<Void, Never>] = [:]
        /// Those that something came for: perhaps when they were on their way out.
        var knocked: Set<JobID> = []
        var isClosed = false
    }

    /// The way on for a batch that is no longer here.
    enum Sequel {
        case nothing
        /// Something came for it meanwhile.
        case look
        /// The journal refused a write of it: it is to be taken up again soon.
        case retake
    }

    private let workspace: Workspace
    private let journal: Workspace.Journal
    private let log: DaemonLog
    private let clock: any WallClock
    private let state = Mutex(State())

    init(_ workspace: Workspace, _ journal: Workspace.Journal, _ log: DaemonLog, clock: any WallClock) {
        self.workspace = workspace
        self.journal = journal
        self.log = log
        self.clock = clock
    }

    /// Runs a batch that this process has just acquired, until it ends or is let go.
    ///
    /// - Parameter ended: called when it is no longer here, with what is to be done for it.
    func begin(
        _ subject: BatchRunner.Subject, on host: some ItemHost, ended: @escaping @Sendable (Sequel) -> Void
    ) async throws {
        let batch = subject.lease.job
        var options = BatchRunner.Options()
        if let path = try await journal.batch(batch)?.settings.results {
            do {
                options.results = try await ResultsFile.open(path, of: subject.job.record, in: journal)
            } catch let failure as StepFailure {
                // The items are worth more than their rows, which stand in the journal too.
                log.note(
                    "batch \(subject.job.record.key) goes on without its results file, and 'pipeline results' has the rows: "
                        + failure.title, level: .warning, job: batch)
            }
        }
        let runner = BatchRunner(
            subject,
            ports: BatchRunner.Ports(
                journal: journal, clock: clock, newJobID: { [workspace] in workspace.newJobID() }),
            options: options)
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            state.runners[batch] = runner
            state.tasks[batch] = Task { await self.run(runner, on: host, ended) }
            return false
        }
        if isClosed { try await journal.release(subject.lease) }
    }

    private func run(_ runner: BatchRunner, on host: some ItemHost, _ ended: @Sendable (Sequel) -> Void) async {
        let (batch, name) = (runner.subject.lease.job, runner.subject.job.record.key)
        var isRefused = false
        do throws(JournalFailure) {
            let end = try await runner.run(on: host)
            log.note("batch \(name) \(Self.words(for: end))", job: batch)
        } catch {
            log.note("batch \(name): \(error)", level: .error, job: batch)
            try? await journal.release(runner.subject.lease)
            isRefused = error.mayPass
        }
        if let problem = runner.options.results?.problem { log.note("batch \(name): \(problem)", job: batch) }
        let isKnocked = state.withLock { state in
            state.runners[batch] = nil
            state.tasks[batch] = nil
            return state.knocked.remove(batch) != nil
        }
        ended(isRefused ? .retake : isKnocked ? .look : .nothing)
    }

    private static func words(for end: BatchRunner.End) -> String {
        switch end {
        case .ended(let phase): phase.rawValue
        case .suspended(let cause): "was let go: \(cause.rawValue)"
        case .unknown: "has an unknown submit; 'pipeline why' of the batch says what to do"
        case .read, .left: "is left to the next owner"
        case .cut: "was let go: its standard input was never read to the end; the same command adds the rest"
        case .unreadable(let error): "can't be read: \(error.message)"
        case .refused(let count): "was let go: \(count) bad rows"
        case .lost: "has another owner by now"
        }
    }

    /// The batch, if it is here.
    func runner(of job: JobID) -> BatchRunner? { state.withLock { $0.runners[job] } }

    var isEmpty: Bool { state.withLock { $0.runners.isEmpty } }

    /// Has a batch look into its inbox and at its items; false for one that is not here.
    func knock(_ job: JobID) -> Bool {
        let runner = state.withLock { state in
            if state.runners[job] != nil { state.knocked.insert(job) }
            return state.runners[job]
        }
        runner?.look()
        return runner != nil
    }

    /// A job has come to rest: its batch hears of it, and the others that there is room.
    func rested(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, of item: BatchItem?) {
        for (batch, runner) in state.withLock({ $0.runners }) {
            if batch == item?.batch { runner.rested(job, item: item?.key, result) } else { runner.look() }
        }
    }

    /// Leaves all batches to the next owner. From any thread.
    func leave() {
        let runners = state.withLock { state in
            state.isClosed = true
            return state.runners.values
        }
        for runner in runners { runner.leave() }
    }

    /// Returns once all batches are let go.
    func close() async {
        leave()
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }
}
