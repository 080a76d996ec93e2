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

    /// An outlook that was made for one job and is as good for others.
    private struct Shared {
        var subject: String?
        var size: Double?
        var guess: Double?
        var outlook: StageOutlook
        /// So many of its samples may still change before it is made anew.
        var changesLeft: Int
    }

    private struct State {
        var entries: [String: Entry] = [:]
        /// By pipeline and stage, in the order in which they were first asked after.
        var running: [String: [String: [Running]]] = [:]
        /// By pipeline and stage.
        var shared: [String: [String: Shared]] = [:]

        /// A sample of a stage came, went or grew.
        mutating func noteChange(of pipeline: String, _ stage: String) {
            shared[pipeline]?[stage]?.changesLeft -= 1
        }
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
        state.withLock { state in
            state.entries[pipeline] = entry
            state.shared[pipeline] = nil
        }
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

    /// Returns what is known of a stage's duration from its samples as they are now, without what the job itself waits for;
    /// nil for a pipeline that was not read yet.
    ///
    /// Of many samples a few more or less say nothing, and a batch has thousands of jobs that ask: what was made for one of
    /// them serves all of its kind until a sixteenth of the samples are others.
    func outlook(
        of pipeline: String, stage: String, subject: String?, size: Double?, guess: Double?, besides job: JobID
    ) -> StageOutlook? {
        let (shared, samples) = state.withLock { state -> (StageOutlook?, [StageSample]?) in
            guard let entry = state.entries[pipeline] else { return (nil, nil) }
            if let shared = state.shared[pipeline]?[stage], shared.changesLeft > 0, shared.subject == subject,
                shared.size == size, shared.guess == guess
            {
                return (shared.outlook, nil)
            }
            let running = state.running[pipeline]?[stage] ?? []
            return (
                nil,
                (entry.others[stage] ?? []) + running.lazy.filter { $0.job != job }.map(\.sample)
                    + (entry.samples[stage] ?? [])
            )
        }
        guard let samples else { return shared }
        let outlook = StageOutlook(samples: samples, subject: subject, size: size, guess: guess)
        let made = Shared(
            subject: subject, size: size, guess: guess, outlook: outlook, changesLeft: samples.count / 16)
        if made.changesLeft > 0 { state.withLock { $0.shared[pipeline, default: [:]][stage] = made } }
        return outlook
    }

    /// Takes a new one in.
    func add(_ sample: StageSample) {
        state.withLock { state in
            state.noteChange(of: sample.pipeline, sample.stage)
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
            state.noteChange(of: sample.pipeline, sample.stage)
            state.running[sample.pipeline, default: [:]][sample.stage] = running
        }
    }

    /// Forgets a remote job that has ended, or all of a job's that this engine lets go.
    func forgetRunning(_ job: JobID, _ step: StepKey? = nil, in pipeline: String) {
        state.withLock { state in
            for stage in step.map({ [$0.stage] }) ?? (state.running[pipeline]?.keys.map(\.self) ?? []) {
                let count = state.running[pipeline]?[stage]?.count
                state.running[pipeline]?[stage]?.removeAll { $0.job == job && (step == nil || $0.step == step) }
                if state.running[pipeline]?[stage]?.count != count { state.noteChange(of: pipeline, stage) }
            }
        }
    }
}
