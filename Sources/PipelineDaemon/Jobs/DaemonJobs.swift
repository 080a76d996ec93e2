import JSONPath
import Logging
import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// The jobs of one state folder as the background owner has them.
final class DaemonJobs: JobSource {
    /// The request of a person by name, until the job is taken up.
    private struct Named {
        var retriesFailed = false
    }

    private struct State {
        /// The values that were handed over, until the job ends. It is nowhere else: after a restart it must be given
        /// again.
        var handed: [JobID: HandedValues] = [:]
        var named: [JobID: Named] = [:]
    }

    private let journal: Workspace.Journal
    private let engine: Engine
    private let secrets: SecretSources
    private let plans: PlanCache
    private let log: DaemonLog
    private let state = Mutex(State())
    private let spare: MemoryTrimmer

    init(journal: Workspace.Journal, engine: Engine, secrets: SecretSources, plans: PlanCache, log: DaemonLog) {
        self.journal = journal
        spare = MemoryTrimmer {
            journal.giveBackMemory()
            ProcessMemory.giveBack()
        }
        self.engine = engine
        self.secrets = secrets
        self.plans = plans
        self.log = log
    }

    /// Keeps what was handed over for a job that is to be taken up by name.
    func name(_ job: JobID, _ values: HandedValues, retriesFailed: Bool) {
        state.withLock { state in
            state.handed[job] = values.over(state.handed[job] ?? HandedValues())
            state.named[job] = Named(retriesFailed: retriesFailed)
        }
    }

    /// The secrets of a job: what was handed over for it, else the daemon's own.
    func secrets(of job: JobID) -> any SecretSource {
        DelegatedSecrets(state.withLock { $0.handed[job]?.secrets ?? [:] }, else: secrets)
    }

    func secretInputs(of job: JobID) -> JSONObject { state.withLock { $0.handed[job]?.inputs ?? [:] } }

    // MARK: Opening

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        let named = state.withLock { $0.named.removeValue(forKey: job) }
        guard let snapshot = try await journal.snapshot(of: job) else { return nil }
        guard Self.mayTake(snapshot, isNamed: named != nil) else { return try await tell(snapshot) }
        guard let plan = try await plan(of: snapshot) else { return nil }
        let again: RestartScope = snapshot.ended != nil && named?.retriesFailed == true ? .failed : .nothing
        return try await engine.with(secrets: secrets(of: job)).resume(
            job, plan: plan, mode: .background, secretInputs: secretInputs(of: job), again: again)
    }

    /// Returns what was not told of a job that nobody drives any more.
    private func tell(_ job: JobSnapshot) async throws(JournalFailure) -> Engine.JobHandle? {
        guard job.nextTelling != nil else { return nil }
        let id = job.record.id
        guard let plan = try await plan(of: job) else { return nil }
        return try await engine.with(secrets: secrets(of: id)).tell(
            id, plan: plan, secretInputs: secretInputs(of: id))
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

    /// Returns who takes up what: jobs of the background, never paused or interrupted ones, others only when named.
    private static func mayTake(_ job: JobSnapshot, isNamed: Bool) -> Bool {
        if isNamed { return job.ended == nil || job.outcome == .failed }
        guard job.ended == nil, job.mode == .background else { return false }
        if job.cause == .paused || job.cause == .interrupted { return false }
        return job.phase(isOwned: false) != .unknown
    }

    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
        let id = job.lease.job
        guard let snapshot = try await journal.snapshot(of: id) else { throw .noSuchJob(id) }
        let plan: Plan
        do throws(DefinitionError) {
            plan = try await plans.plan(of: snapshot.record)
        } catch {
            // It could be planned before: taken up again later, it is said what is missing.
            try await journal.release(job.lease)
            throw .other("job \(id) can't be planned any more: \(error.report)")
        }
        return engine.with(secrets: secrets(of: id)).unpark(
            job, as: snapshot, plan: plan, secretInputs: secretInputs(of: id))
    }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        spare.workEnded()
        switch result {
        case .success(.parked): return
        case .success(.ended), .success(.lost):
            // A sink that is to be tried again may need them.
            if snapshot?.nextTelling == nil { state.withLock { _ = $0.handed.removeValue(forKey: job) } }
        case .success(.suspended), .success(.unknown): break
        case .failure(let failure): log.note("job \(job): \(failure)", level: .error, job: job)
        }
        if case .success(let end) = result { log.note("job \(job) \(await words(for: end, of: job))", job: job) }
    }

    /// Returns what became of a job, for the log: nobody else tells a person that a secret is missing.
    private func words(for end: JobEnd, of job: JobID) async -> String {
        switch end {
        case .ended(let phase): return phase.rawValue
        case .suspended(.secret):
            let detail = try? await journal.events(of: job, after: 0).last { $0.kind == .jobSuspended }?.data["detail"]
            let missing = detail?.string ?? "a secret is missing"
            return "waits: \(missing); give it with 'pipeline resume \(job) --detach'"
        case .suspended(let cause): return "was let go: \(cause.rawValue)"
        case .unknown: return "has an unknown submit; 'pipeline why \(job)' says what to do"
        case .parked: return "waits"
        case .lost: return "has another owner by now"
        }
    }
}
