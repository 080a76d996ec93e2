import PipelineCore
import Synchronization

/// The samples of pipelines in memory, for all jobs of an engine: read once in a while, not for each job; and how long
/// the remote jobs have run that this engine's jobs wait for.
final class DurationHistoryCache: Sendable {
    private struct Entry {
        var samples: [String: [StageSample]]
        /// The samples of what other processes' jobs wait for, by stage.
        var others: [String: [StageSample]]
        var read: Timestamp
    }

    /// A remote job that has not ended.
    private struct Running {
        var job: JobID
        var step: StepKey
        var sample: StageSample
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// By pipeline and stage, in the order in which they were first asked after.
        var running: [String: [String: [Running]]] = [:]
    }

    private let history: any DurationHistory
    private let owner: OwnerID
    private let state = Mutex(State())

    init(_ history: any DurationHistory, owner: OwnerID) {
        self.history = history
        self.owner = owner
    }

    /// Other processes add samples too; so old they may be.
    private static let freshness = Duration.seconds(60)
    private static let limit = 100
    /// That many remote jobs of a stage are remembered that run: an estimate is made from no more.
    private static let runningLimit = 128

    /// By stage: of those that run, then of those that ended, oldest first. A history that can't be read is as good as
    /// none.
    func samples(of pipeline: String, at now: Timestamp) async -> [String: [StageSample]] {
        if let entry = state.withLock({ $0.entries[pipeline] }), (.zero..<Self.freshness).contains(now - entry.read) {
            return merged(pipeline)
        }
        guard let read = try? await history.samples(of: pipeline, limit: Self.limit) else { return [:] }
        let others = try? await history.runningSamples(of: pipeline, besides: owner, at: now, limit: 64)
        let entry = Entry(
            samples: Dictionary(grouping: read, by: \.stage), others: Dictionary(grouping: others ?? [], by: \.stage),
            read: now)
        state.withLock { $0.entries[pipeline] = entry }
        return merged(pipeline)
    }

    private func merged(_ pipeline: String) -> [String: [StageSample]] {
        state.withLock { state in
            guard let entry = state.entries[pipeline] else { return [:] }
            var samples = entry.others
            for (stage, running) in state.running[pipeline] ?? [:] {
                samples[stage, default: []] += running.map(\.sample)
            }
            for (stage, ended) in entry.samples {
                // Of most stages nothing runs that is known: their samples need no copy.
                samples[stage] = samples[stage].map { $0 + ended } ?? ended
            }
            return samples
        }
    }

    /// The samples of one stage as they are now, without what the job itself waits for; nil for a pipeline that was not
    /// read yet.
    func samples(of pipeline: String, stage: String, besides job: JobID) -> [StageSample]? {
        state.withLock { state in
            guard let entry = state.entries[pipeline] else { return nil }
            let running = state.running[pipeline]?[stage] ?? []
            return (entry.others[stage] ?? []) + running.lazy.filter { $0.job != job }.map(\.sample)
                + (entry.samples[stage] ?? [])
        }
    }

    /// Takes a new one in.
    func add(_ sample: StageSample) {
        state.withLock { state in
            guard var samples = state.entries[sample.pipeline]?.samples[sample.stage] else {
                state.entries[sample.pipeline]?.samples[sample.stage] = [sample]
                return
            }
            samples.append(sample)
            if samples.count > Self.limit { samples.removeFirst() }
            state.entries[sample.pipeline]?.samples[sample.stage] = samples
        }
    }

    /// Takes in for how long a remote job has run.
    func setRunning(_ sample: StageSample, _ job: JobID, _ step: StepKey) {
        state.withLock { state in
            var running = state.running[sample.pipeline]?[sample.stage] ?? []
            if let place = running.firstIndex(where: { $0.job == job && $0.step == step }) {
                running[place].sample = sample
            } else if running.count < Self.runningLimit {
                running.append(Running(job: job, step: step, sample: sample))
            } else {
                return
            }
            state.running[sample.pipeline, default: [:]][sample.stage] = running
        }
    }

    /// Forgets a remote job that has ended, or all of a job's that this engine lets go.
    func forgetRunning(_ job: JobID, _ step: StepKey? = nil, in pipeline: String) {
        state.withLock { state in
            for stage in step.map({ [$0.stage] }) ?? (state.running[pipeline]?.keys.map(\.self) ?? []) {
                state.running[pipeline]?[stage]?.removeAll { $0.job == job && (step == nil || $0.step == step) }
            }
        }
    }
}
