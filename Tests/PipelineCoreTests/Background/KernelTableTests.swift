import SeededNumbers
import Testing

@testable import PipelineCore

/// A table stands for the sum that it was made of.
@Suite struct KernelTableTests {
    private static func parts(_ seed: UInt64, count: Int, spread: Double, range: Double) -> [DurationDistribution.Part]
    {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            DurationDistribution.Part(
                weight: 1 / Double(count),
                shape: Lognormal(center: Double.random(in: 0...range, using: &random), spread: spread))
        }
    }

    @Test(
        "a probability is that of the sum to 0.0003, before, within and beyond all of them",
        arguments: [(1, 60, 0.2, 2.0), (2, 240, 0.02, 7.0), (3, 9, 0.5, 0.0), (4, 30, 0.01, 0.3)])
    func isTheSum(seed: UInt64, count: Int, spread: Double, range: Double) throws {
        let parts = Self.parts(seed, count: count, spread: spread, range: range)
        let table = try #require(KernelTable(parts, spread: spread))
        for step in -200...1200 {
            let place = Double(step) / 1000 * (range + 8 * spread) - 4 * spread
            let sum = parts.reduce(0) { $0 + $1.weight * $1.shape.survival(ofLogarithm: place) }
            #expect((table.survival(ofLogarithm: place) - sum).magnitude < 0.0003, "\(place)")
        }
        #expect((table.survival(ofLogarithm: -100) - 1).magnitude < 1e-9)
        #expect(table.survival(ofLogarithm: 100) == 0)
    }

    @Test("it falls from place to place, so that a quantile is one")
    func falls() throws {
        let table = try #require(KernelTable(Self.parts(5, count: 60, spread: 0.03, range: 3), spread: 0.03))
        let values = (0...5000).map { table.survival(ofLogarithm: Double($0) / 1000 - 1) }
        #expect(zip(values, values.dropFirst()).allSatisfy { $0 >= $1 })
    }

    @Test("durations that lie too far apart for one are added up")
    func tooFarApart() {
        let parts = Self.parts(6, count: 20, spread: 0.01, range: 12)
        #expect(KernelTable(parts, spread: 0.01) == nil)
        let sum = parts.reduce(0) { $0 + $1.weight * $1.shape.survival(ofLogarithm: 6) }
        #expect((DurationDistribution(parts: parts).survival(Normal.exponential(6)) - sum).magnitude < 1e-9)
    }
}
