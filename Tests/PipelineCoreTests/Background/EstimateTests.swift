import JSONPath
import Testing

@testable import PipelineCore

/// What estimates are made from.
@Suite struct EstimateTests {
    private static func samples(_ durations: [Double], sizes: [Double?] = [], remaining: Double? = nil) -> [StageSample]
    {
        durations.enumerated().map { index, seconds in
            StageSample(
                pipeline: "p", stage: "s", ended: .at(0), seconds: seconds,
                size: sizes.indices.contains(index) ? sizes[index] : nil, remainingError: remaining)
        }
    }

    @Test("quantiles are in order and shrink as time passes")
    func order() throws {
        let outlook = StageOutlook(samples: Self.samples((1...20).map { 40 + Double($0 * 7 % 20) }))
        let early = try #require(Estimate(outlook, elapsed: 0))
        let late = try #require(Estimate(outlook, elapsed: 40))
        #expect(early.quantile(0.5) < early.quantile(0.9))
        #expect(early.quantile(0.9) < early.quantile(0.99))
        #expect((40...60).contains(early.quantile(0.5)))
        #expect(late.quantile(0.5) < 20)
        #expect(early.sources == ["history"])
    }

    /// "p50 held in 5 %, p90 in 16 %" was told of jobs that took the same time each, and the next intervals were not shown.
    @Test("what was foretold is held against when jobs are thought to have ended, not when a rare poll found that")
    func rarePolls() throws {
        var samples: [StageSample] = []
        for job in 0..<60 {
            let estimate = Estimate(StageOutlook(samples: samples), elapsed: 0)
            let found = 1.03 + Double(job * 7 % 10) * 0.02
            samples.append(
                StageSample(
                    pipeline: "a", stage: "model", ended: Timestamp(milliseconds: Int64(job) * 2000), seconds: found,
                    earliest: found - 0.5, polls: 2, p50: estimate?.quantile(0.5), p90: estimate?.quantile(0.9)))
        }
        let told = try #require(StageStatistics(stage: "model", samples: samples))
        #expect((0.3...0.7).contains(try #require(told.held50)), "\(told)")
        #expect(try #require(told.held90) > 0.8, "\(told)")
        #expect(!StageOutlook(samples: samples).isContradicted)
    }

    @Test("nothing known gives no estimate, an author's guess is its median")
    func guess() throws {
        #expect(Estimate(.unknown, elapsed: 0) == nil)
        let estimate = try #require(Estimate(StageOutlook(samples: [], guess: 60), elapsed: 0))
        #expect(abs(estimate.quantile(0.5) - 60) < 0.5)
        #expect(estimate.sources == ["author"])
    }

    @Test("a history soon outweighs the guess")
    func historyWins() throws {
        let outlook = StageOutlook(samples: Self.samples([10, 11, 9, 10, 12, 10]), guess: 600)
        let estimate = try #require(Estimate(outlook, elapsed: 0))
        #expect((9...14).contains(estimate.quantile(0.5)))
        #expect(estimate.sources == ["history", "author"])
    }

    @Test("durations that grow with the size are brought to this job's size")
    func bySize() throws {
        let sizes = (1...20).map { Double($0) * 1e6 }
        let past = Self.samples(sizes.map { 3 + $0 / 1e6 * 2 }, sizes: sizes)
        let large = StageOutlook(samples: past, size: 18e6)
        #expect(large.sources == ["history by size"])
        #expect((34...44).contains(try #require(Estimate(large, elapsed: 0)).quantile(0.5)))
        let unsized = StageOutlook(samples: Self.samples([9, 10, 11, 10, 9, 10], sizes: sizes.map { $0 }), size: 5e6)
        #expect(unsized.sources == ["history"])
    }

    @Test("beyond the sizes that were seen a duration is as of the largest of them, and in doubt")
    func beyondSizes() throws {
        let sizes = (1...6).map { Double($0) * 1e4 }
        let past = Self.samples(sizes.map { $0 / 1e4 }, sizes: sizes)
        let known = try #require(Estimate(StageOutlook(samples: past, size: 6e4), elapsed: 0))
        let far = try #require(Estimate(StageOutlook(samples: past, size: 1e7), elapsed: 0))
        #expect((4...9).contains(far.quantile(0.5)))
        #expect(far.quantile(0.9) > known.quantile(0.9) * 4)
        #expect(far.quantile(0.1) < known.quantile(0.1) / 4)
    }

    @Test("samples of another kind or service under the stage's name say nothing")
    func subject() {
        var samples = Self.samples([10, 11, 12])
        for index in samples.indices { samples[index].subject = "compute http://one" }
        #expect(StageOutlook(samples: samples, subject: "compute http://one").durations.count == 3)
        #expect(StageOutlook(samples: samples, subject: "compute http://two").distribution == nil)
        samples[0].subject = nil
        #expect(StageOutlook(samples: samples, subject: "compute http://two").durations.count == 1)
    }

    @Test(
        "an interval that its own history contradicts is not shown", arguments: [(20, false), (15, false), (12, true)])
    func contradicted(held: Int, isContradicted: Bool) throws {
        var samples = Self.samples((0..<20).map { 50 + Double($0) })
        for index in samples.indices { samples[index].p90 = index < held ? 100 : 1 }
        let estimate = try #require(Estimate(StageOutlook(samples: samples), elapsed: 0))
        #expect(estimate.isContradicted == isContradicted)
        #expect((estimate.data["p90"] == .null) == isContradicted)
        #expect(estimate.data["p50"] != .null)
    }

    @Test("what a service says of the rest is corrected by how wrong it was")
    func corrected() throws {
        let honest = try #require(Estimate(.unknown, elapsed: 5, words: Estimate.Words(secondsLeft: 20)))
        #expect(abs(honest.quantile(0.5) - 20) < 0.5)
        let past = Self.samples([70, 72, 68, 71, 70], remaining: 0.6931)
        let corrected = try #require(
            Estimate(StageOutlook(samples: past), elapsed: 30, words: Estimate.Words(secondsLeft: 20)))
        #expect((36...44).contains(corrected.quantile(0.5)))
        #expect(corrected.sources == ["remaining", "history"])
    }

    @Test("progress gives the rest from the time that has passed")
    func progress() throws {
        let estimate = try #require(Estimate(.unknown, elapsed: 30, words: Estimate.Words(share: 0.75)))
        #expect(abs(estimate.quantile(0.5) - 10) < 0.5)
        #expect(Estimate(.unknown, elapsed: 30, words: Estimate.Words(share: 0)) == nil)
    }

    @Test("sources that disagree make a wide estimate, nearer to what is said today")
    func disagreement() throws {
        let outlook = StageOutlook(samples: Self.samples([60, 61, 59, 60, 62, 60]))
        let estimate = try #require(Estimate(outlook, elapsed: 10, words: Estimate.Words(secondsLeft: 500)))
        #expect(estimate.quantile(0.5) > 200)
    }

    @Test("what follows one another adds up, what is beside one another does not")
    func sketches() throws {
        let ten = QuantileSketch(try #require(Estimate(StageOutlook(samples: [], guess: 10), elapsed: 0)))
        #expect((ten + ten).quantile(0.5) > 19)
        #expect(ten.beside(ten).quantile(0.5) < 15)
        #expect((ten + .zero) == ten)
        #expect(ten.quantile(0.9) > ten.quantile(0.5))
    }
}
