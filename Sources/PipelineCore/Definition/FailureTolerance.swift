import JSONPath

/// The number or the share of items of a repeated stage or of a batch that may fail.
package enum FailureTolerance: Sendable, Hashable {
    case count(Int)
    /// Of all items, in percent.
    case percent(Double)

    /// From `10` or `5%`; nil for anything else.
    package init?(_ text: String) {
        if text.utf8.last == UInt8(ascii: "%"), let percent = Double(text.dropLast()), (0...100).contains(percent) {
            self = .percent(percent)
        } else if let count = Int(text), count >= 0 {
            self = .count(count)
        } else {
            return nil
        }
    }

    package var text: String {
        switch self {
        case .count(let count): "\(count)"
        case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
        }
    }

    /// True if so many failures are more than are tolerated. A share is of all items once these are known, before that of
    /// those read, from a hundred on.
    package func isExceeded(failures: Int, items: Int, isRead: Bool = true) -> Bool {
        switch self {
        case .count(let count): return failures > count
        case .percent(let percent):
            guard isRead || items >= 100 else { return false }
            return Double(failures) > Double(items) * percent / 100
        }
    }

    static func type(roots: AllowedRoots) -> FieldType<Setting<Self>> {
        let share: JSON = ["type": "string", "pattern": #"^[0-9]+(\.[0-9]+)?%$|\$\{\{"#]
        return .setting(schema: ["anyOf": [.integer(0...1_000_000_000), share]], roots: roots) {
            json throws(ValueSyntaxError) in
            if let count = json.number?.int, count >= 0 { return .count(count) }
            if let text = json.string, text.hasSuffix("%"), let share = FailureTolerance(text) { return share }
            throw ValueSyntaxError("this is a whole number or a share of all items", hint: "write 10 or \"5%\"")
        }
    }
}
