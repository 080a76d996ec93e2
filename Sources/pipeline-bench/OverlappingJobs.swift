import PipelineCore

/// Sixty remote jobs, some of them at a time, each asked after as its plan says: in virtual time.
struct OverlappingJobs {
    /// The sums that they came to.
    struct Result {
        var jobs = 0.0
        var polls = 0.0
        var delay = 0.0
        var seconds = 0.0
        var told = 0.0
        var held50 = 0.0
        var held90 = 0.0

        static func += (sum: inout Result, other: Result) {
            sum.jobs += other.jobs
            sum.polls += other.polls
            sum.delay += other.delay
            sum.seconds += other.seconds
            sum.told += other.told
            sum.held50 += other.held50
            sum.held90 += other.held90
        }

        var line: String {
            let held = [held50, held90].map { "\(Int(($0 / told * 100).rounded()))" }.joined(separator: " / ")
            return "\(text(polls / jobs, 1)), \(text(delay / seconds * 100, 1)) %, \(held) %"
        }
    }

    private struct Job {
        let began: Double
        let seconds: Double
        var foretold: Estimate?
        var polls = 0
        var lastRunning = 0.0
        var nextPoll = 0.0
    }

    private let slots: Int
    private let learnsFromRunning: Bool
    private var durations: SimulatedDurations
    private var running: [Job] = []
    private var ended: [StageSample] = []
    private var now = 0.0
    private static let count = 60

    init(slots: Int, learnsFromRunning: Bool, seed: UInt64) {
        self.slots = slots
        self.learnsFromRunning = learnsFromRunning
        durations = SimulatedDurations(.lognormal, seed: seed)
        durations.median = 6
    }

    func run() -> Result {
        var bench = self
        return bench.work()
    }

    private mutating func work() -> Result {
        var result = Result()
        var begun = 0
        while begun < Self.count || !running.isEmpty {
            while running.count < slots, begun < Self.count {
                begin()
                begun += 1
            }
            guard let index = running.indices.min(by: { running[$0].nextPoll < running[$1].nextPoll }) else { break }
            now = running[index].nextPoll
            running[index].polls += 1
            let elapsed = now - running[index].began
            if elapsed < running[index].seconds {
                running[index].lastRunning = elapsed
                running[index].nextPoll = now + wait(of: running[index])
            } else {
                finish(running.remove(at: index), elapsed, &result)
            }
        }
        return result
    }

    private mutating func begin() {
        var job = Job(began: now, seconds: durations.next().seconds)
        job.foretold = Estimate(outlook(of: nil), elapsed: 0)
        job.nextPoll = now + wait(of: job)
        running.append(job)
    }

    private mutating func finish(_ job: Job, _ elapsed: Double, _ result: inout Result) {
        ended.append(
            StageSample(
                pipeline: "bench", stage: "model", ended: .epoch + .seconds(now), seconds: elapsed,
                earliest: job.lastRunning, polls: job.polls))
        result.jobs += 1
        result.polls += Double(job.polls)
        result.delay += elapsed - job.seconds
        result.seconds += job.seconds
        guard let estimate = job.foretold else { return }
        result.told += 1
        result.held50 += job.seconds <= estimate.quantile(0.5) ? 1 : 0
        result.held90 += job.seconds <= estimate.quantile(0.9) ? 1 : 0
    }

    private func outlook(of job: Job?) -> StageOutlook {
        guard learnsFromRunning else { return StageOutlook(samples: ended) }
        let others = running.filter { $0.lastRunning > 0 && $0.seconds != job?.seconds }.map { other in
            var sample = StageSample(
                pipeline: "bench", stage: "model", ended: .epoch + .seconds(other.began + other.lastRunning),
                seconds: other.lastRunning)
            sample.isRunning = true
            return sample
        }
        return StageOutlook(samples: ended + others)
    }

    /// As the program waits: without any knowledge after 50 and 100 ms, then 1.4 times as long each time.
    private func wait(of job: Job) -> Double {
        let elapsed = now - job.began
        guard let estimate = Estimate(outlook(of: job), elapsed: elapsed) else {
            return job.polls < 2 ? 0.05 * Double(job.polls + 1) : max(0.2, elapsed * 0.4)
        }
        return PollPlan(estimate.distribution).wait(after: estimate.elapsed)
    }
}
