/// A weighted sum of lognormals of one spread, as a table of its survival function.
///
/// The weights are shared out to the two nearest places of a grid, even in the logarithm of the seconds, and each place adds
/// its part of the kernel ("linear binning"; Wand and Jones, "Kernel Smoothing", 1995, appendix D.2). A probability is a
/// look-up then, however many lognormals there are; it is right to 0.0003.
struct KernelTable: Sendable, Hashable {
    /// The logarithm of the seconds at the first place.
    private let first: Double
    private let step: Double
    /// The probability of more than so many seconds, from place to place: it falls from the sum of the weights to nothing.
    private let survival: [Double]

    /// Places in a standard deviation.
    private static let density = 16
    /// Places from a kernel's middle to where nothing of it is left.
    private static let reach = 6 * density
    /// Where sums lie further apart than that many places the table would cost more than it saves.
    private static let most = 8192
    private static let kernel = (0...2 * reach).map { Normal.cumulative(Double(reach - $0) / Double(density)) }

    /// Nil where the table would be too long.
    init?(_ parts: [DurationDistribution.Part], spread: Double) {
        step = spread / Double(Self.density)
        let low = parts.map(\.shape.center).min() ?? 0
        let high = parts.map(\.shape.center).max() ?? 0
        let span = ((high - low) / step).rounded(.up) + 1
        guard span < Double(Self.most) else { return nil }
        first = low - Double(Self.reach) * step
        var weights = [Double](repeating: 0, count: Int(span) + 1)
        for part in parts {
            let place = (part.shape.center - low) / step
            let share = place - place.rounded(.down)
            weights[Int(place)] += part.weight * (1 - share)
            weights[Int(place) + 1] += part.weight * share
        }
        var values = [Double](repeating: 0, count: weights.count + 2 * Self.reach)
        var later = 0.0
        for place in weights.indices.reversed() {
            // Before the reach of a kernel all of it is still to come.
            values[place] += later
            guard weights[place] > 0 else { continue }
            for (offset, value) in Self.kernel.enumerated() { values[place + offset] += weights[place] * value }
            later += weights[place]
        }
        survival = values
    }

    /// The probability of more than the seconds whose natural logarithm is given.
    func survival(ofLogarithm logarithm: Double) -> Double {
        let place = (logarithm - first) / step
        guard place > 0 else { return survival[0] }
        guard place < Double(survival.count - 1) else { return 0 }
        let index = Int(place)
        return survival[index] + (survival[index + 1] - survival[index]) * (place - Double(index))
    }
}
