/// Sums of money as people read them.
package enum AmountText {
    /// To four digits after the point; the currency is the author's own and stands nowhere.
    package static func describe(_ value: Double) -> String {
        let rounded = (value * 10_000).rounded() / 10_000
        return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
    }
}
