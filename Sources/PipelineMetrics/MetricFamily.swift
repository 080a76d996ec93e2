/// One family of metrics as it is given out: its name, its kind and its samples.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram, info
    }

    /// One line.
    struct Sample: Sendable {
        /// The end of the family's name: `_bucket`, `_sum`, `_count`, or nothing.
        var suffix = ""
        var labels: [(name: String, value: String)] = []
        var value: Double
    }

    /// As Prometheus has it: of a counter with `_total`, of an info with `_info`.
    let name: String
    let kind: Kind
    let help: String
    var samples: [Sample]

    /// Writes the family; nothing of one without samples.
    func write(_ format: MetricsFormat, into text: inout String) {
        if samples.isEmpty { return }
        let (described, type) = description(format)
        text += "# HELP \(described) \(Self.escaped(help, quotes: false))\n# TYPE \(described) \(type)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += name + sample.suffix
            if !labels.isEmpty { text += "{" + labels.joined(separator: ",") + "}" }
            text += " " + Self.number(sample.value) + "\n"
        }
    }

    /// OpenMetrics names a family without the suffix that its kind demands; the other format knows no info.
    private func description(_ format: MetricsFormat) -> (name: String, type: String) {
        switch (format, kind) {
        case (.prometheus, .info): (name, "gauge")
        case (.openMetrics, .counter): (String(name.dropLast("_total".count)), kind.rawValue)
        case (.openMetrics, .info): (String(name.dropLast("_info".count)), kind.rawValue)
        case (_, _): (name, kind.rawValue)
        }
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }
}
