import ArgumentParser
import PipelineCore
import SeededNumbers

/// The measure of how well estimates hold, what polls cost, and what resumes that happen together save: in virtual
/// time, from seeds.
struct EstimatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimates", abstract: "Simulate durations; print how estimates held, polls and resumes.")

    @Option(help: "Simulated services of each kind.") var seeds = 40

    func run() async throws {
        printIntervals()
        print()
        printPolls()
        print()
        printOverlapping()
        print()
        printResumes()
    }

    // MARK: Estimates

    private func printIntervals() {
        print("how often durations stayed within what was foretold, in %: p50 / p90")
        print(row("durations", "after 20 jobs", "after 50 jobs", "30 jobs after the median doubled"))
        for kind in SimulatedDurations.Kind.allCases {
            var shares = [Held(), Held(), Held()]
            for seed in 0..<UInt64(seeds) { watch(kind, seed, &shares) }
            print(row(kind.rawValue, shares[0].text, shares[1].text, shares[2].text))
        }
    }

    private struct Held {
        var middle = 0.0
        var high = 0.0
        var count = 0.0

        mutating func add(_ seconds: Double, _ estimate: Estimate) {
            middle += seconds <= estimate.quantile(0.5) ? 1 : 0
            high += seconds <= estimate.quantile(0.9) ? 1 : 0
            count += 1
        }

        var text: String { "\(Int((middle / count * 100).rounded())) / \(Int((high / count * 100).rounded()))" }
    }

    private func watch(_ kind: SimulatedDurations.Kind, _ seed: UInt64, _ shares: inout [Held]) {
        var durations = SimulatedDurations(kind, seed: seed)
        var samples: [StageSample] = []
        for job in 0..<120 {
            if job == 90 { durations.median *= 2 }
            let (seconds, size) = durations.next()
            let outlook = StageOutlook(samples: samples, size: size)
            if let estimate = Estimate(outlook, elapsed: 0) {
                if (20..<50).contains(job) { shares[0].add(seconds, estimate) }
                if (50..<90).contains(job) { shares[1].add(seconds, estimate) }
                if job >= 90 { shares[2].add(seconds, estimate) }
            }
            samples.append(sample(seconds, size: size))
        }
    }

    private func sample(_ seconds: Double, size: Double?, earliest: Double = 0) -> StageSample {
        StageSample(
            pipeline: "bench", stage: "model", ended: .epoch, seconds: seconds, earliest: earliest, size: size)
    }

    // MARK: Polls

    private func printPolls() {
        print(
            "polls for each job, and the mean delay in % of the mean duration: lognormal, median 60 s, drifting by 30 %"
        )
        print(row("strategy", "spread 0.5", "spread 0.1", ""))
        let strategies: [(String, (PollPlan?, Double) -> Double)] = [
            ("adaptive", { plan, elapsed in plan?.wait(after: elapsed) ?? max(0.2, elapsed * 0.4) }),
            ("every 2 s", { _, _ in 2 }), ("every 15 s", { _, _ in 15 }),
            ("1 s x 1.25, at most 60 s", { _, elapsed in min(60, max(1, elapsed * 0.25 + 1)) }),
            ("1 s, after a minute 15 s", { _, elapsed in elapsed < 60 ? 1 : 15 }),
        ]
        for (name, wait) in strategies {
            let texts = [0.5, 0.1].map { spread -> String in
                let (polls, delay) = polls(spread: spread, wait)
                return "\(text(polls, 1)), \(text(delay * 100, 1)) %"
            }
            print(row(name, texts[0], texts[1], ""))
        }
    }

    private func polls(spread: Double, _ wait: (PollPlan?, Double) -> Double) -> (polls: Double, delay: Double) {
        var (polls, delay, total, count) = (0.0, 0.0, 0.0, 0.0)
        for seed in 0..<UInt64(max(2, seeds / 10)) {
            var durations = SimulatedDurations(.lognormal, seed: seed)
            durations.spread = spread
            var samples: [StageSample] = []
            for job in 0..<180 {
                durations.median = 60 * (1 + 0.3 * Double(job) / 180)
                let seconds = durations.nextWithOutliers()
                let plan = StageOutlook(samples: samples).distribution.map { PollPlan($0) }
                var (elapsed, last, asked) = (0.0, 0.0, 0.0)
                while elapsed < seconds {
                    last = elapsed
                    elapsed += wait(plan, elapsed)
                    asked += 1
                }
                samples.append(sample(elapsed, size: nil, earliest: last))
                guard job >= 30 else { continue }
                polls += asked
                delay += elapsed - seconds
                total += seconds
                count += 1
            }
        }
        return (polls / count, delay / total)
    }

    // MARK: Jobs that overlap

    private func printOverlapping() {
        print("60 jobs, some at a time, lognormal, median 6 s, spread 0.5: polls, delay, how often p50 and p90 held")
        let heads = ["at a time".padding(to: 12), "learning from those that run too".padding(to: 34)]
        print(heads.joined() + "from ended ones alone")
        for slots in [1, 5, 15, 30] {
            let texts = [true, false].map { learns -> String in
                var sum = OverlappingJobs.Result()
                for seed in 0..<UInt64(seeds) {
                    sum += OverlappingJobs(slots: slots, learnsFromRunning: learns, seed: seed).run()
                }
                return sum.line
            }
            print("\(slots)".padding(to: 12) + texts[0].padding(to: 34) + texts[1])
        }
    }

    // MARK: Resumes

    private func printResumes() {
        print("resumes of a batch of 100 transfers that end within 60 s of one another")
        print(row("pipelines", "tolerance 0 s", "tolerance 5 s", "tolerance 30 s"))
        for pipelines in [1, 10, 100] {
            let counts = [0.0, 5, 30].map { "\(Self.resumes(pipelines: pipelines, tolerance: $0))" }
            print(row("\(pipelines)", counts[0], counts[1], counts[2]))
        }
    }

    private static func resumes(pipelines: Int, tolerance: Double) -> Int {
        var ledger = ResumeLedger()
        var durations = SimulatedDurations(.lognormal, seed: 5)
        let jobs = (0..<100).map { JobID("job\($0)") }
        for job in jobs { ledger.expect(.transfer(job: job, step: StepKey(stage: "upload"))) }
        let start = Timestamp(milliseconds: 1_790_000_000_000)
        let ends = jobs.map { ($0, start + .seconds(durations.random.unit() * 60)) }.sorted { $0.1 < $1.1 }
        return ends.enumerated().count { index, end in
            let request = ResumeRequest(
                pipeline: "pipeline\(index % pipelines)", job: end.0, step: StepKey(stage: "upload"),
                reason: .transferEnded, budget: ResumeBudget(.limited(.standard), in: Scope()),
                tolerance: .seconds(tolerance))
            return ledger.enter(request, at: end.1).record.charge == .counted
        }
    }

    private func row(_ first: String, _ rest: String...) -> String {
        ([first] + rest).enumerated().map { $1.padding(to: $0 == 0 ? 26 : 18) }.joined()
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
