import SeededNumbers
import Testing

@testable import PipelineCore

/// Polls and estimates over simulated jobs, in virtual time.
@Suite struct PollPlanTests {
    /// How a service's jobs take their time: lognormal, drifting by 30 % over the run, with outliers of five times and
    /// early failures, as the figures of the project are defined.
    struct Model {
        var median = 60.0
        var spread = 0.5
        var drift = 0.3
        var random: SplitMix64

        init(spread: Double, seed: UInt64) {
            self.spread = spread
            random = SplitMix64(seed: seed)
        }

        mutating func duration(at share: Double) -> Double {
            let usual = median * (1 + drift * share) * Normal.exponential(spread * random.normal())
            let chance = random.unit()
            if chance < 0.02 { return usual * 5 }
            return chance < 0.03 ? usual * random.unit() : usual
        }
    }

    struct Result {
        var polls = 0.0
        var delay = 0.0
    }

    /// Watches jobs one after the other, each with what is known of those before: polls per job, and the mean delay
    /// over the mean duration.
    static func watch(jobs: Int, after warmUp: Int, model start: Model) -> Result {
        var model = start
        var samples: [StageSample] = []
        var result = Result()
        var total = 0.0
        for job in 0..<(jobs + warmUp) {
            let duration = model.duration(at: Double(job) / Double(jobs + warmUp))
            let outlook = StageOutlook(samples: samples)
            var elapsed = 0.0
            var last = 0.0
            var polls = 0
            let plan = outlook.distribution.map { PollPlan($0) }
            while elapsed < duration {
                last = elapsed
                elapsed += plan?.wait(after: elapsed) ?? max(0.2, elapsed * 0.4)
                polls += 1
            }
            samples.append(
                StageSample(pipeline: "p", stage: "s", ended: .at(0), seconds: elapsed, earliest: last, polls: polls))
            if samples.count > 100 { samples.removeFirst() }
            guard job >= warmUp else { continue }
            result.polls += Double(polls) / Double(jobs)
            result.delay += elapsed - duration
            total += duration
        }
        result.delay /= total
        return result
    }

    /// The mean over services that differ in nothing but chance.
    static func watch(spread: Double, seeds: Range<UInt64>) -> Result {
        let results = seeds.map { watch(jobs: 150, after: 30, model: Model(spread: spread, seed: $0)) }
        let count = Double(results.count)
        return Result(
            polls: results.reduce(0) { $0 + $1.polls } / count, delay: results.reduce(0) { $0 + $1.delay } / count)
    }

    @Test("on a wide distribution at most 5.6 polls find the end after 8.5 % of the duration")
    func wide() {
        let result = Self.watch(spread: 0.5, seeds: 7..<15)
        #expect(result.polls <= 5.6, "\(result)")
        #expect(result.delay <= 0.085, "\(result)")
    }

    @Test("on a narrow distribution at most 4.5 polls find the end after 4 % of the duration")
    func narrow() {
        let result = Self.watch(spread: 0.1, seeds: 7..<11)
        #expect(result.polls <= 4.5, "\(result)")
        #expect(result.delay <= 0.04, "\(result)")
    }

    @Test("a job that takes ten times as long as all before it is still asked for, and one that ends at once is found")
    func wrongEstimates() throws {
        let outlook = StageOutlook(
            samples: (0..<30).map { index in
                StageSample(pipeline: "p", stage: "s", ended: .at(0), seconds: 60 + Double(index % 5))
            })
        let plan = PollPlan(try #require(outlook.distribution))
        #expect(plan.wait(after: 0) < 64)
        var elapsed = 0.0
        var polls = 0
        while elapsed < 600 {
            let wait = plan.wait(after: elapsed)
            #expect(wait > 0 && wait <= max(64, elapsed))
            elapsed += wait
            polls += 1
        }
        #expect(polls < 50)
    }

    @Test("half of the jobs end before p50 and nine of ten before p90", arguments: [0.1, 0.5])
    func calibration(spread: Double) {
        var held50 = 0.0
        var held90 = 0.0
        var count = 0.0
        for seed in 0..<20 as Range<UInt64> {
            var model = Model(spread: spread, seed: 100 + seed)
            model.drift = 0
            var samples: [StageSample] = []
            for job in 0..<90 {
                let duration = model.duration(at: 0)
                if job >= 50, let estimate = Estimate(StageOutlook(samples: samples), elapsed: 0) {
                    held50 += duration <= estimate.quantile(0.5) ? 1 : 0
                    held90 += duration <= estimate.quantile(0.9) ? 1 : 0
                    count += 1
                }
                samples.append(StageSample(pipeline: "p", stage: "s", ended: .at(0), seconds: duration))
            }
        }
        #expect((0.44...0.56).contains(held50 / count), "\(held50 / count)")
        #expect((0.87...0.93).contains(held90 / count), "\(held90 / count)")
    }

    @Test("over the 30 jobs after the median has doubled p90 holds in 80 to 95 %", arguments: [0.1, 0.3, 0.5])
    func doubled(spread: Double) {
        var held = 0.0
        var count = 0.0
        for seed in 0..<20 as Range<UInt64> {
            var model = Model(spread: spread, seed: 300 + seed)
            model.drift = 0
            var samples: [StageSample] = []
            for job in 0..<80 {
                if job == 50 { model.median = 120 }
                let duration = model.duration(at: 0)
                if job >= 50, let estimate = Estimate(StageOutlook(samples: samples), elapsed: 0) {
                    held += duration <= estimate.quantile(0.9) ? 1 : 0
                    count += 1
                }
                samples.append(StageSample(pipeline: "p", stage: "s", ended: .at(0), seconds: duration))
            }
        }
        #expect((0.80...0.95).contains(held / count), "\(held / count)")
    }

    @Test("once the level has changed the new one is what is foretold, whatever came before", arguments: [0.5, 2, 4])
    func newLevel(factor: Double) {
        var near = 0
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix64(seed: 900 + seed)
            let past = (0..<40).map { 60 * Normal.exponential(0.2 * random.normal()) * ($0 < 36 ? 1 : factor) }
            let change = LevelChange(past.map { Normal.logarithm($0) })
            if (35...37).contains(change.place) { near += 1 }
        }
        #expect(near >= 19, "\(near)")
    }

    @Test("outliers are no change of level, and the last one may be the first of another")
    func outliers() {
        var random = SplitMix64(seed: 77)
        var (found, far) = (0, 0)
        for _ in 0..<50 {
            var past = (0..<40).map { _ in 0.2 * random.normal() }
            past[20] += 1.6
            past[33] += 1.6
            if LevelChange(past).place != 0 { found += 1 }
            if LevelChange(past.dropLast() + [1.6]).isLastFarAbove { far += 1 }
        }
        #expect(found <= 4 && far >= 40, "\(found), \(far)")
    }

    /// Jobs of a lognormal duration, `slots` at a time, each polled as planned from those that ended and those that run:
    /// polls for each, mean delay over the mean duration, and the shares that ended within p50 and p90.
    static func overlapping(
        jobs: Int, slots: Int, seed: UInt64
    ) -> (polls: Double, delay: Double, held50: Double, held90: Double) {
        struct Job {
            let start: Double
            let duration: Double
            var estimate: Estimate?
            var polls = 0
            var last = 0.0
            var next = 0.0
        }
        func moment(_ seconds: Double) -> Timestamp { .at(0) + .seconds(seconds) }
        var model = Model(spread: 0.5, seed: seed)
        var (running, ended, now, begun) = ([Job](), [StageSample](), 0.0, 0)
        var (polls, delay, total, held50, held90, told) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        func outlook(but start: Double) -> StageOutlook {
            let others = running.filter { $0.start != start && $0.last > 0 }.map { job in
                var sample = StageSample(
                    pipeline: "p", stage: "s", ended: moment(job.start + job.last), seconds: job.last)
                sample.isRunning = true
                return sample
            }
            return StageOutlook(samples: ended + others)
        }
        func wait(_ job: Job) -> Double {
            guard let estimate = Estimate(outlook(but: job.start), elapsed: now - job.start) else {
                return job.polls < 2 ? 0.05 : (now - job.start) * 0.4
            }
            return PollPlan(estimate.distribution).wait(after: estimate.elapsed)
        }
        while begun < jobs || !running.isEmpty {
            while running.count < slots, begun < jobs {
                let duration = 6 * Normal.exponential(0.5 * model.random.normal())
                var job = Job(start: now + Double(begun) * 0.01, duration: duration)
                job.estimate = Estimate(outlook(but: -1), elapsed: 0)
                job.next = job.start + wait(job)
                running.append(job)
                begun += 1
            }
            let index = running.indices.min { running[$0].next < running[$1].next } ?? 0
            now = running[index].next
            running[index].polls += 1
            let elapsed = now - running[index].start
            guard elapsed >= running[index].duration else {
                running[index].last = elapsed
                running[index].next = now + wait(running[index])
                continue
            }
            let job = running.remove(at: index)
            ended.append(
                StageSample(pipeline: "p", stage: "s", ended: moment(now), seconds: elapsed, earliest: job.last))
            (polls, delay, total) = (polls + Double(job.polls), delay + elapsed - job.duration, total + job.duration)
            if let estimate = job.estimate {
                told += 1
                held50 += job.duration <= estimate.quantile(0.5) ? 1 : 0
                held90 += job.duration <= estimate.quantile(0.9) ? 1 : 0
            }
        }
        return (polls / Double(jobs), delay / total, held50 / told, held90 / told)
    }

    @Test("of 60 jobs, 15 at a time, those that still run are learned from: the ones that ended are the short ones")
    func overlapping() {
        let results = (0..<8 as Range<UInt64>).map { Self.overlapping(jobs: 60, slots: 15, seed: 40 + $0) }
        func mean(_ value: (Int) -> Double) -> Double { results.indices.reduce(0) { $0 + value($1) } / 8 }
        #expect(mean { results[$0].polls } <= 9)
        #expect(mean { results[$0].delay } <= 0.12)
        #expect((0.42...0.58).contains(mean { results[$0].held50 }), "\(mean { results[$0].held50 })")
        #expect(mean { results[$0].held90 } >= 0.8, "\(mean { results[$0].held90 })")
    }

    @Test("after jobs that ended at once, one that takes 15 s is not asked for ever faster")
    func laterThanEver() throws {
        let samples = (0..<3).map { _ in StageSample(pipeline: "p", stage: "s", ended: .at(0), seconds: 0.06) }
        let plan = PollPlan(try #require(StageOutlook(samples: samples).distribution))
        var (elapsed, polls) = (0.0, 0)
        while elapsed < 15 {
            elapsed += max(plan.wait(after: elapsed), 0.05)
            polls += 1
        }
        #expect(polls <= 25, "\(polls)")
    }
}
