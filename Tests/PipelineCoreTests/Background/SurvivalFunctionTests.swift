import Testing

@testable import PipelineCore

@Suite("The inverse of a survival function")
struct SurvivalFunctionTests {
    /// Many durations at two levels, as a service has that is quick or not.
    private static let distribution = DurationDistribution(
        parts: (0..<130).map { number in
            let center = Normal.logarithm(number % 3 == 0 ? 40 : 2) + 0.01 * Double(number % 17)
            return .init(weight: 1, shape: Lognormal(center: center, spread: 0.12))
        })

    @Test("gives fifty quantiles as each would be searched", arguments: [0, 1.9, 30])
    func isRight(elapsed: Double) {
        let quantiles = Self.distribution.quantiles(50, after: elapsed)
        let span = Normal.logarithm(quantiles[49] / quantiles[0])
        for (number, seconds) in quantiles.enumerated() {
            let searched = Self.distribution.quantile((Double(number) + 0.5) / 50, after: elapsed)
            #expect(Normal.logarithm(seconds / searched).magnitude <= span / 32, "\(seconds) for \(searched)")
        }
        #expect(quantiles == quantiles.sorted())
    }

    @Test("beyond all that was expected goes on as the search does")
    func isBeyond() {
        let quantiles = Self.distribution.quantiles(50, after: 1e9)
        #expect(quantiles == (0..<50).map { Self.distribution.quantile((Double($0) + 0.5) / 50, after: 1e9) })
    }

    @Test("asks the function sixty times for fifty quantiles: each time is a sum over all that is remembered")
    func isCheap() {
        var calls = 0
        let function = SurvivalFunction(end: 5) { seconds in
            calls += 1
            return Self.distribution.survival(seconds)
        }
        _ = function.quantiles(50, after: 0)
        #expect(calls <= 70, "\(calls)")
    }

    @Test("finds one quantile in half the calls of bisection, on either side of a gap", arguments: [0, 1.9, 30])
    func search(elapsed: Double) {
        let alive = Self.distribution.survival(elapsed)
        var all = 0
        for share in [0.001, 0.1, 0.5, 0.66, 0.67, 0.9, 0.99, 0.999] {
            var calls = 0
            let function = SurvivalFunction(end: 5) { seconds in
                calls += 1
                return Self.distribution.survival(seconds)
            }
            let found = function.quantile(share, after: elapsed)
            // To a millionth of the logarithm.
            let (before, behind) = (found * (1 - 2e-6), found * (1 + 2e-6))
            #expect(Self.distribution.survival(before) >= alive * (1 - share), "\(share)")
            #expect(Self.distribution.survival(behind) <= alive * (1 - share), "\(share)")
            all += calls
        }
        #expect(all <= 8 * 17, "\(all)")
    }
}
