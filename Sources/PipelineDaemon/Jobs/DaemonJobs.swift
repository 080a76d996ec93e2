import JSONPath
import Logging
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// The jobs of one state folder as the background owner has them.
final class DaemonJobs: JobSource {
    /// The request of a person by name, until the job is taken up.
    private struct Named: Equatable {
        var retriesFailed = false
        /// The end of the job that is to be tried again; nil for one that had not ended, or is not known.
        var ended: Timestamp?

        /// Returns whether the job was begun again since: by another who asked for the same.
        func isDone(by job: JobSnapshot) -> Bool { retriesFailed && ended != nil && ended != job.ended }
    }

    private struct State {
        /// The values that were handed over, until the job ends. It is nowhere else: after a restart it must be given
        /// again.
        var handed: [JobID: HandedValues] = [:]
        /// The jobs of them that another process drives.
        var lent: Set<JobID> = []
        var named: [JobID: Named] = [:]
        /// How many jobs are at work.
        var working = 0
    }

    private let journal: Workspace.Journal
    private let engine: Engine
    private let secrets: SecretSources
    private let plans: PlanCache
    private let clock: any WallClock
    private let log: DaemonLog
    private let state = Mutex(State())
    private let trimmer: MemoryTrimmer
    /// The batches that are here.
    let batches: DaemonBatches
    /// How many jobs may be at work.
    private let concurrency: Int
    /// Set once, right after the making: it asks back.
    private let owned = Mutex<JobScheduler?>(nil)

    init(
        journal: Workspace.Journal, engine: Engine, secrets: SecretSources, plans: PlanCache, batches: DaemonBatches,
        concurrency: Int, clock: any WallClock, log: DaemonLog
    ) {
        self.journal = journal
        self.batches = batches
        self.concurrency = concurrency
        self.clock = clock
        trimmer = MemoryTrimmer {
            journal.giveBackMemory()
            ProcessMemory.giveBack()
        }
        self.engine = engine
        self.secrets = secrets
        self.plans = plans
        self.log = log
    }

    /// Keeps what was handed over for a job that is to be taken up by name.
    func name(_ job: JobID, _ values: HandedValues, retriesFailed: Bool, ended: Timestamp? = nil) {
        state.withLock { state in
            state.handed[job] = values.over(state.handed[job] ?? HandedValues())
            state.lent.remove(job)
            state.named[job] = Named(retriesFailed: retriesFailed, ended: ended)
        }
    }

    /// Keeps what pushes are verified with for a job that another process drives.
    func lend(_ job: JobID, _ values: HandedValues) {
        state.withLock { state in
            state.handed[job] = values.over(state.handed[job] ?? HandedValues())
            state.lent.insert(job)
        }
    }

    /// Forgets what was lent for jobs that have ended since: nobody tells of that here.
    func forgetLent() async throws(JournalFailure) {
        for job in state.withLock({ $0.lent }) {
            let found = try await journal.jobs(JobQuery(prefix: job.text, isBrief: true)).first
            if found?.snapshot.ended != nil || found == nil { forget(job) }
        }
    }

    /// Forgets that a job was to be taken up by name: this process has it, and what is asked of it from now on comes after
    /// that.
    func fulfil(_ job: JobID) { state.withLock { state in state.named[job] = nil } }

    /// The secrets of a job: what was handed over for it or its batch, else the daemon's own.
    func secrets(of job: JobRecord) -> any SecretSource {
        let handed = handed(for: job).secrets
        return DelegatedSecrets(handed, else: secrets) { [self] name in forget(name, handed[name], of: job) }
    }

    /// Forgets a value that was handed over and that a service refused: the daemon has another one itself.
    private func forget(_ name: String, _ value: JSON?, of job: JobRecord) {
        state.withLock { state in
            for id in [job.id, job.item?.batch].compactMap(\.self) where state.handed[id]?.secrets[name] == value {
                state.handed[id]?.secrets[name] = nil
            }
        }
    }

    private func forget(_ job: JobID) {
        state.withLock { state in
            state.handed[job] = nil
            state.lent.remove(job)
        }
    }

    /// The values of a job's secret inputs: what was handed over for it or its batch, else as they are found here.
    func secretInputs(of job: JobRecord, _ plan: Plan) async -> JSONObject {
        let handed = handed(for: job).inputs
        do throws(InputsError) {
            return try await SecretInputs(of: job, in: plan).values(known: handed, secrets: secrets(of: job))
        } catch {
            log.note("job \(job.id): \(error.problems.map(\.title).joined(separator: "; "))", job: job.id)
            return handed
        }
    }

    private func handed(for job: JobRecord) -> HandedValues {
        state.withLock { state in
            let shared = job.item.flatMap { state.handed[$0.batch] } ?? HandedValues()
            return state.handed[job.id]?.over(shared) ?? shared
        }
    }

    // MARK: Batches

    /// The scheduler that runs the jobs; set before the first.
    func run(on scheduler: JobScheduler) {
        owned.withLock { $0 = scheduler }
        // Where no job is, starting was the work.
        trimmer.workEnded()
    }

    /// How many more jobs may be begun at this moment.
    var room: Int { state.withLock { max(0, concurrency - $0.working) } }

    /// Runs a job that this process has begun for a batch.
    func adopt(_ job: Engine.JobHandle) {
        state.withLock { $0.working += 1 }
        owned.withLock { $0 }?.adopt(job)
    }

    /// Begins an item's job again; one that has not ended goes on.
    func resume(_ job: JobID, _ again: RestartScope) async throws(JournalFailure) -> Engine.JobHandle {
        guard let snapshot = try await journal.snapshot(of: job) else { throw .noSuchJob(job) }
        guard let plan = try await plan(of: snapshot) else { throw .other("job \(job) can't be planned here") }
        return try await engine.with(secrets: secrets(of: snapshot.record)).resume(
            job, plan: plan, mode: .background, secretInputs: await secretInputs(of: snapshot.record, plan),
            again: snapshot.ended == nil ? .nothing : again.known(in: plan))
    }

    private func begin(batch: JobSnapshot, _ plan: Plan) async throws(JournalFailure) {
        let record = batch.record
        let lease = try await journal.acquireBatch(
            record.id, .background, reopens: false, for: journal.owner, at: clock.now)
        let draft = JobDraft(record, plan: plan, secretInputs: await secretInputs(of: record, plan))
        let engine = engine.with(secrets: secrets(of: record))
        let subject = BatchRunner.Subject(draft: draft, job: batch, lease: lease)
        let ended: @Sendable (DaemonBatches.Sequel) -> Void = { [self] sequel in
            switch sequel {
            case .nothing: forget(record.id)
            // What was handed over meanwhile is for the next that takes it up.
            case .look: owned.withLock { $0 }?.knock(record.id)
            case .retake: owned.withLock { $0 }?.retake(record.id)
            }
        }
        do {
            if journal.shared != nil {
                try await batches.begin(subject, on: SharedItems(self, engine, journal), ended: ended)
            } else {
                let host = DaemonItems(self, engine) { [self] in owned.withLock { $0 } }
                try await batches.begin(subject, on: host, ended: ended)
            }
        } catch {
            log.note("batch \(record.key): \(error)", level: .error, job: record.id)
            try await journal.release(lease)
        }
    }

    // MARK: Opening

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        let named = state.withLock { state in
            state.working += 1
            return state.named[job]
        }
        // What was asked for stands until it was done or refused: after a failure that may pass it is taken up once more.
        let handle = try await open(job, named)
        state.withLock { state in
            if state.named[job] == named { state.named[job] = nil }
            if handle == nil { state.working -= 1 }
        }
        return handle
    }

    private func open(_ job: JobID, _ named: Named?) async throws(JournalFailure) -> Engine.JobHandle? {
        if batches.knock(job) { return nil }
        var named = named
        guard let snapshot = try await journal.snapshot(of: job) else { return nil }
        if named?.isDone(by: snapshot) == true { named = nil }
        guard Self.mayTake(snapshot, named) else {
            batches.rested(job, .success(.lost), of: snapshot.record.item)
            return try await tell(snapshot)
        }
        // A process that is gone was told, and could not hear it: only a person who names the job answers that.
        if named == nil, snapshot.request == .pause, snapshot.ended == nil, snapshot.batch == nil {
            try await engine.pause(job)
            batches.rested(job, .success(.suspended(.paused)), of: snapshot.record.item)
            return nil
        }
        guard let plan = try await plan(of: snapshot) else {
            batches.rested(job, .success(.suspended(.extension)), of: snapshot.record.item)
            return nil
        }
        if snapshot.batch != nil {
            try await begin(batch: snapshot, plan)
            return nil
        }
        let again: RestartScope = named?.retriesFailed == true ? .failed : .nothing
        let resume = { () async throws(JournalFailure) in
            try await self.engine.with(secrets: self.secrets(of: snapshot.record)).resume(
                job, plan: plan, mode: .background, secretInputs: await self.secretInputs(of: snapshot.record, plan),
                again: again)
        }
        guard let runner = snapshot.record.item.flatMap({ batches.runner(of: $0.batch) }) else {
            return try await resume()
        }
        return try await runner.takeUp(snapshot, by: engine, resume)
    }

    /// Returns what was not told of a job that nobody drives any more.
    private func tell(_ job: JobSnapshot) async throws(JournalFailure) -> Engine.JobHandle? {
        guard job.nextTelling != nil else { return nil }
        let id = job.record.id
        guard let plan = try await plan(of: job) else { return nil }
        return try await engine.with(secrets: secrets(of: job.record)).deliverNotifications(
            of: id, plan: plan, secretInputs: await secretInputs(of: job.record, plan))
    }

    /// The plan of a job. One whose document can't be planned here, for want of a plugin or of a stage kind that
    /// another program registers, waits with that said: then it is nil.
    private func plan(of job: JobSnapshot) async throws(JournalFailure) -> Plan? {
        do throws(DefinitionError) {
            return try await plans.plan(of: job.record)
        } catch {
            guard job.ended == nil else { return nil }
            let detail = error.diagnostics.first?.message ?? "its document can't be planned"
            if try await engine.suspend(job.record.id, lacking: detail) {
                let id = job.record.id
                log.note("job \(id) waits: this program does not know all that its document names: \(detail)")
            }
            return nil
        }
    }

    /// Returns whether a job is taken up here: one that is named may have failed, too, where that is to be tried again. Else
    /// only what is still to be told of it is sent.
    private static func mayTake(_ job: JobSnapshot, _ named: Named?) -> Bool {
        guard let named else { return job.goesOnByItself }
        return job.ended == nil || named.retriesFailed && (job.outcome == .failed || job.hasFailures)
    }

    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
        state.withLock { $0.working += 1 }
        // One that can't be planned any more is let go: taken up again later, it is said what is missing.
        return try await engine.unpark(job) { snapshot in
            let plan = try await plans.plan(of: snapshot.record)
            return engine.with(secrets: secrets(of: snapshot.record)).unpark(
                job, as: snapshot, plan: plan, secretInputs: await secretInputs(of: snapshot.record, plan))
        }
    }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        trimmer.workEnded()
        state.withLock { $0.working -= 1 }
        var item = snapshot?.record.item
        if snapshot == nil, !batches.isEmpty { item = (try? await journal.snapshot(of: job))?.record.item }
        batches.rested(job, result, of: item)
        switch result {
        case .success(.parked): return
        case .success(.ended), .success(.lost):
            // A sink that is to be tried again may need them.
            if snapshot?.nextTelling == nil { forget(job) }
        case .success(.suspended), .success(.unknown): break
        // Another has it: what there is to do is done there.
        case .failure(.owned): break
        case .failure(let failure): log.note("job \(job): \(failure)", level: .error, job: job)
        }
        if case .success(let end) = result, let words = await words(for: end, of: job) {
            log.note("job \(job) \(words)", job: job)
        }
    }

    /// Returns what a person must know of a job's end besides its events: nobody else tells that a secret is missing.
    private func words(for end: JobEnd, of job: JobID) async -> String? {
        switch end {
        case .suspended(.secret):
            let missing = (try? await journal.events(of: job, after: 0).suspensionDetail) ?? "a secret is missing"
            let way =
                journal.shared != nil
                ? "'pipeline why \(job)' says how to give it" : "give it with 'pipeline resume \(job) --detach'"
            return "waits: \(missing); \(way)"
        case .ended, .suspended, .parked: return nil
        case .unknown: return "has an unknown submit; 'pipeline why \(job)' says what to do"
        case .lost: return "has another owner by now"
        }
    }
}
