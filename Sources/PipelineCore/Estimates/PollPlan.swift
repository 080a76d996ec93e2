/// The times at which to ask how a remote job is, so that few polls find its end soon.
///
/// From the distribution of its duration, given that it has not ended: candidate times even in log time, and the sum
/// of polls, each worth `price` seconds, and expected delay is made least backwards by dynamic programming.
package struct PollPlan: Sendable {
    /// The distribution that is believed, with some doubt.
    private let distribution: DurationDistribution
    /// The seconds that hardly any is believed to exceed.
    private let longest: Double
    /// The part of a duration that one poll is worth in delay.
    private let share: Double
    private let median: Double

    /// - Parameters:
    ///   - distribution: what is believed of the whole duration.
    ///   - patience: by how much fewer polls are worth more delay than usual, for example when a push is expected.
    package init(_ distribution: DurationDistribution, patience: Double = 1) {
        let middle = distribution.quantile(0.5)
        let spread = Normal.logarithm(distribution.quantile(0.84) / distribution.quantile(0.16)) / 2
        // Whatever is believed may be wrong by an order of magnitude: so no estimate starves the polls.
        let doubt = DurationDistribution(median: middle, spread: 1.5)
        self.distribution = distribution.mixed(with: doubt, weight: 0.03)
        longest = distribution.quantile(0.995)
        median = middle
        // A poll is worth 0.8 % of the median on a narrow distribution and 1.4 % on a wide one, where the same delay
        // takes more of them.
        share = min(0.0065 + 0.015 * spread, 0.02) * patience
    }

    private static let candidates = 150

    /// Seconds until the next poll, when the job has run for `elapsed` and has not ended.
    package func wait(after elapsed: Double) -> Double {
        let price = max(0.005, median * share)
        let times = times(after: elapsed, price: price)
        let alive = times.map { distribution.survival($0) }
        let count = times.count
        // The integral of F: what a poll at j costs those that end between i and j follows from its differences.
        var area = [0.0]
        for index in 1..<count {
            area.append(area[index - 1] + (2 - alive[index - 1] - alive[index]) / 2 * (times[index] - times[index - 1]))
        }
        var cost = [Double](repeating: 0, count: count)
        var next = [Int](repeating: count - 1, count: count)
        for index in stride(from: count - 2, through: 0, by: -1) {
            var best = Double.infinity
            for other in (index + 1)..<count {
                let delay = area[other] - area[index] - (1 - alive[index]) * (times[other] - times[index])
                if delay > best { break }
                let total = price * alive[index] + delay + cost[other]
                if total < best {
                    best = total
                    next[index] = other
                }
            }
            cost[index] = best
        }
        let wait = min(times[next[0]] - elapsed, max(median, elapsed / 2))
        // Past all that was expected nothing is known but that it takes long: an end that comes far later than ever costs
        // little more polls than one of which nothing was known.
        return elapsed > longest ? max(wait, elapsed * min(0.4, 0.05 * elapsed / longest)) : wait
    }

    /// The number of polls that are expected from the beginning.
    package var expectedPolls: Double {
        var elapsed = 0.0
        var polls = 0.0
        for _ in 0..<60 {
            let alive = distribution.survival(elapsed)
            guard alive > 0.001 else { break }
            polls += alive
            elapsed += wait(after: elapsed)
        }
        return polls
    }

    /// The time that has passed, then candidates even in log time up to one that is hardly ever exceeded.
    private func times(after elapsed: Double, price: Double) -> [Double] {
        let last = max(distribution.quantile(0.9995, after: elapsed), elapsed * 1.05 + 0.02)
        // Fine where the rest of the time is short: even in the logarithm of what comes after now.
        let first = max(min((last - elapsed) / 1000, price), 0.002)
        let step = Normal.logarithm((last - elapsed) / first) / Double(Self.candidates - 1)
        return [elapsed] + (0..<Self.candidates).map { elapsed + first * Normal.exponential(step * Double($0)) }
    }
}
