import PipelineCore

/// Text from outside as it may be shown on a terminal: on one line, without control characters, not too long.
enum ShownText {
    /// The number of characters of a body that are kept in a failure.
    static let excerptLength = 300

    /// The start of a body: white space is one space, control characters (C0, C1, the bidirectional ones) are U+FFFD.
    static func excerpt(_ text: String, limit: Int = excerptLength) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        var pendingSpace = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                pendingSpace = !result.isEmpty
                continue
            }
            if count + (pendingSpace ? 1 : 0) >= limit {
                result.append("…")
                break
            }
            if pendingSpace { result.append(" ") }
            count += pendingSpace ? 2 : 1
            pendingSpace = false
            result.append(isHarmless(scalar) ? scalar : "\u{FFFD}")
        }
        return String(result)
    }

    /// Returns the same of a text that may hold a secret, redacted before it is cut: what is left of one that was cut
    /// could no longer be told from other text.
    static func excerpt<Checkpoint>(
        _ text: String, limit: Int = excerptLength, in context: StageContext<Checkpoint>
    ) -> String {
        // Once more on one line: a secret that came wrapped stands there whole.
        excerpt(context.redact(excerpt(context.redact(text), limit: .max)), limit: limit)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .privateUse, .surrogate, .unassigned: scalar == "\u{200D}"
        default: true
        }
    }
}
