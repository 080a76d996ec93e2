extension Duration {
    /// The length in seconds, with fractions.
    package var seconds: Double {
        let (whole, attoseconds) = components
        // Whole milliseconds are shown with three digits: their two parts added up are often a neighbour of that number.
        let milliseconds = wholeMilliseconds
        if attoseconds % 1_000_000_000_000_000 == 0, milliseconds.magnitude < 1 << 53 {
            return Double(milliseconds) / 1000
        }
        return Double(whole) + Double(attoseconds) / 1e18
    }

    /// The length in whole milliseconds, rounded towards zero; what exceeds Int64 stops at its ends.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
