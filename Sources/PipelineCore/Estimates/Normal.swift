import CLibrary

/// The standard normal distribution.
enum Normal {
    static func logarithm(_ value: Double) -> Double { log(value) }
    static func exponential(_ value: Double) -> Double { exp(value) }

    /// The probability of at most `value`.
    static func cumulative(_ value: Double) -> Double { 0.5 * erfc(-value / 2.0.squareRoot()) }

    /// The density of `value` over the probability of more than it.
    static func hazard(_ value: Double) -> Double {
        // Far out the tail is lost to rounding; there the hazard is the value and its inverse (Mills, 1926).
        guard value < 8 else { return value + 1 / value }
        return exp(-value * value / 2) / (2 * Double.pi).squareRoot() / cumulative(-value)
    }

    /// The value that is not exceeded with the probability, by Newton's method on ``cumulative(_:)`` from the
    /// approximation of Abramowitz and Stegun, 26.2.23.
    static func quantile(_ probability: Double) -> Double {
        let share = min(max(probability, 1e-12), 1 - 1e-12)
        let tail = min(share, 1 - share)
        let root = (-2 * log(tail)).squareRoot()
        let fraction =
            (2.515517 + root * (0.802853 + root * 0.010328))
            / (1 + root * (1.432788 + root * (0.189269 + root * 0.001308)))
        var value = share < 0.5 ? fraction - root : root - fraction
        for _ in 0..<3 {
            let density = exp(-value * value / 2) / (2 * Double.pi).squareRoot()
            guard density > 1e-300 else { break }
            value -= (cumulative(value) - share) / density
        }
        return value
    }
}
