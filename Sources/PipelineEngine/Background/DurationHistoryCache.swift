import PipelineCore
import Synchronization

/// The samples of pipelines in memory, for all jobs of an engine: read once in a while, not for each job.
final class DurationHistoryCache: Sendable {
    private struct Entry {
        var samples: [String: [StageSample]]
        var read: Timestamp
    }

    private let history: any DurationHistory
    private let entries = Mutex<[String: Entry]>([:])

    init(_ history: any DurationHistory) { self.history = history }

    /// Other processes add samples too; so old they may be.
    private static let freshness = Duration.seconds(60)
    private static let limit = 100

    /// By stage, oldest first. A history that can't be read is as good as none.
    func samples(of pipeline: String, at now: Timestamp) async -> [String: [StageSample]] {
        if let entry = entries.withLock({ $0[pipeline] }), (.zero..<Self.freshness).contains(now - entry.read) {
            return entry.samples
        }
        guard let read = try? await history.samples(of: pipeline, limit: Self.limit) else { return [:] }
        let samples = Dictionary(grouping: read, by: \.stage)
        entries.withLock { $0[pipeline] = Entry(samples: samples, read: now) }
        return samples
    }

    /// Takes a new one in.
    func add(_ sample: StageSample) {
        entries.withLock { entries in
            guard var samples = entries[sample.pipeline]?.samples[sample.stage] else {
                entries[sample.pipeline]?.samples[sample.stage] = [sample]
                return
            }
            samples.append(sample)
            if samples.count > Self.limit { samples.removeFirst() }
            entries[sample.pipeline]?.samples[sample.stage] = samples
        }
    }
}
