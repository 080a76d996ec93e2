import PipelineCore
import Synchronization

/// The rate at which callbacks are taken: a bucket of tokens for each step, and one for all. Pure but for the lock.
final class CallbackRate: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: Timestamp
    }

    private struct State {
        var steps: [String: Bucket] = [:]
        var all: Bucket?
    }

    private let state = Mutex(State())
    /// Tokens a second, and how many there are at most.
    private static let perStep = (rate: 1.0, most: 30.0)
    private static let overall = (rate: 100.0, most: 500.0)

    /// Takes a token from the bucket of all requests; false when it is empty.
    func takesRequest(at now: Timestamp) -> Bool {
        state.withLock { state in
            var bucket = state.all ?? Bucket(tokens: Self.overall.most, filled: now)
            defer { state.all = bucket }
            return Self.take(from: &bucket, Self.overall, now)
        }
    }

    /// Takes a token from the bucket of a step whose address was right.
    func takesPush(of job: JobID, _ step: StepKey, at now: Timestamp) -> Bool {
        state.withLock { state in
            // What has been quiet for long has a full bucket: it need not be kept.
            if state.steps.count > 10_000 { state.steps = state.steps.filter { now - $0.value.filled < .seconds(60) } }
            let name = "\(job)/\(step)"
            var bucket = state.steps[name] ?? Bucket(tokens: Self.perStep.most, filled: now)
            defer { state.steps[name] = bucket }
            return Self.take(from: &bucket, Self.perStep, now)
        }
    }

    private static func take(from bucket: inout Bucket, _ limits: (rate: Double, most: Double), _ now: Timestamp)
        -> Bool
    {
        bucket.tokens = min(limits.most, bucket.tokens + max(0, (now - bucket.filled).seconds) * limits.rate)
        bucket.filled = now
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }
}
