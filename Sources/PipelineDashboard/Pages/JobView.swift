import JSONPath
import PipelineCore
import PipelineKit
import Synchronization

/// The facts that pages read of jobs beyond their rows: plans, and what earlier jobs took, each kept for a moment.
final class JobView: Sendable {
    let workspace: Workspace
    let journal: Workspace.Journal
    private let plans: PlanCache
    private let history = Mutex<[String: (samples: [String: [StageSample]], read: Timestamp)]>([:])
    private let estimates = Mutex<[JobID: (estimate: TimeLeft?, sequence: Int, made: Timestamp)]>([:])

    /// The time left of a job, in seconds.
    struct TimeLeft: Sendable {
        let half: Double
        /// Nil of a batch, which goes on as fast as before.
        let most: Double?
    }

    init(_ workspace: Workspace, _ journal: Workspace.Journal) {
        self.workspace = workspace
        self.journal = journal
        plans = PlanCache(workspace, capacity: 32)
    }

    /// Nil for a document that can't be planned any more.
    func plan(of record: JobRecord) async -> Plan? { try? await plans.plan(of: record) }

    /// By stage, at most ten seconds old.
    func samples(of pipeline: String, at now: Timestamp) async throws(JournalFailure) -> [String: [StageSample]] {
        if let known = history.withLock({ $0[pipeline] }), now - known.read < .seconds(10) { return known.samples }
        let samples = Dictionary(grouping: try await journal.samples(of: pipeline, limit: 100), by: \.stage)
        history.withLock { history in
            if history.count >= 200 { history.removeAll() }
            history[pipeline] = (samples, now)
        }
        return samples
    }

    /// Returns what is left of a job that has not ended, at most ten seconds old; nil where nothing is known.
    func timeLeft(of job: OwnedJob, at now: Timestamp) async throws(JournalFailure) -> TimeLeft? {
        guard job.snapshot.ended == nil else { return nil }
        if let batch = job.snapshot.batch {
            let left = Double(batch.itemCount - batch.endedCount)
            return job.itemRate(at: now).map { TimeLeft(half: left / $0, most: nil) }
        }
        let id = job.snapshot.record.id
        // A row of a list has no sequence: its steps' versions grow alike.
        let sequence = job.snapshot.steps.values.reduce(0) { $0 + $1.version }
        if let known = estimates.withLock({ $0[id] }), known.sequence == sequence, now - known.made < .seconds(10) {
            return known.estimate
        }
        var left: TimeLeft?
        if let plan = await plan(of: job.snapshot.record) {
            let samples = try await samples(of: job.snapshot.record.pipeline, at: now)
            left = JobEstimate(job.snapshot, plan: plan, samples: samples, at: now).map {
                TimeLeft(half: $0.quantile(0.5), most: $0.quantile(0.9))
            }
        }
        let made = left
        estimates.withLock { estimates in
            if estimates.count >= 1000 { estimates.removeAll() }
            estimates[id] = (made, sequence, now)
        }
        return left
    }

    /// The median durations of a pipeline's stages, in seconds.
    func medians(of pipeline: String, at now: Timestamp) async throws(JournalFailure) -> [String: Double] {
        try await samples(of: pipeline, at: now).compactMapValues { samples in
            StageStatistics(stage: "", samples: samples)?.p50
        }
    }
}

extension OwnedJob {
    /// The bytes of its bodies, over all attempts; of a batch those of items that have ended.
    var bytesMoved: BytesMoved {
        if let batch = snapshot.batch { return batch.moved }
        return snapshot.steps.values.reduce(into: BytesMoved()) {
            $0.sent += $1.bytesSent
            $0.received += $1.bytesReceived
        }
    }

    /// Returns why it stands where it stands, in a few words; nil when the phase says all.
    func reason(at now: Timestamp) -> String? {
        switch phase {
        case .failed: return snapshot.failure.map { "\($0.step): \($0.failure.title)" }
        case .suspended: return suspensionText
        case .waiting:
            guard let (next, reason) = snapshot.nextWait else { return nil }
            guard let time = next else { return reason.kind == .callback ? "for a callback" : nil }
            return "\(reason.kind.verb) \(TimeText(now: now).until(time))"
        case .running:
            let running = snapshot.steps.filter { $0.value.state.name == .running }.keys.sorted()
            let items = running.count { $0.item != nil }
            if items > 1 { return "\(items) items of \(running.first { $0.item != nil }?.stage ?? "")" }
            return running.last.map { "\($0)" }
        case .succeeded:
            let failed = snapshot.toleratedFailures.count
            return failed == 0 ? nil : "\(failed) failed"
        case .unknown: return "it is not known whether a submit arrived"
        case .cancelled: return nil
        }
    }
}
