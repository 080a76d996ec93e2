import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// The items of a batch on the scheduler of a background owner, among its other jobs.
final class DaemonItems: ItemHost {
    private let jobs: DaemonJobs
    private let engine: Engine
    private let scheduler: @Sendable () -> JobScheduler?

    init(_ jobs: DaemonJobs, _ engine: Engine, scheduler: @escaping @Sendable () -> JobScheduler?) {
        self.jobs = jobs
        self.engine = engine
        self.scheduler = scheduler
    }

    func begin(_ record: JobRecord, _ draft: JobDraft) async throws(JournalFailure) {
        jobs.adopt(
            try await engine.start(
                record, plan: draft.plan, mode: .background, secretInputs: draft.secretInputs))
    }

    func retry(_ job: JobID, _ again: RestartScope) async throws(JournalFailure) {
        jobs.adopt(try await jobs.resume(job, again))
    }

    func goOn(_ job: JobID) {
        jobs.name(job, HandedValues(), retriesFailed: false)
        scheduler()?.take(job)
    }

    var runsHere: Bool { true }

    var retakesRefused: Bool { true }

    var room: Int { jobs.room }

    /// The owner itself lets its jobs go.
    func interrupt() async {}
}

/// The items of a batch in a journal that machines share: any worker claims them, as it claims other jobs.
final class SharedItems: ItemHost {
    private let jobs: DaemonJobs
    private let engine: Engine
    private let journal: Workspace.Journal

    init(_ jobs: DaemonJobs, _ engine: Engine, _ journal: Workspace.Journal) {
        self.jobs = jobs
        self.engine = engine
        self.journal = journal
    }

    func begin(_ record: JobRecord, _ draft: JobDraft) async throws(JournalFailure) {
        try await engine.submit(record, plan: draft.plan)
    }

    func retry(_ job: JobID, _ again: RestartScope) async throws(JournalFailure) {
        try await journal.release(try await jobs.resume(job, again).lease)
    }

    /// Jobs that workers claim by themselves go on without a word, and what is unknown waits for a person.
    func goOn(_ job: JobID) async throws(JournalFailure) {
        guard let found = try await journal.snapshot(of: job), found.ended == nil else { return }
        let awaitsPerson = found.phase(isOwned: false) == .unknown && found.request != .cancel
        // What is paused is taken up here also where it is to be cancelled: its batch waits for that.
        let isPaused = found.cause == .paused || found.cause == .interrupted
        if found.goesOnByItself && !isPaused || awaitsPerson { return }
        do throws(JournalFailure) {
            try await retry(job, .nothing)
        } catch {
            // Somebody has it, and goes on with it.
            guard case .owned = error else { throw error }
        }
    }

    var runsHere: Bool { false }

    var retakesRefused: Bool { true }

    var room: Int { .max }

    func interrupt() async {}
}
