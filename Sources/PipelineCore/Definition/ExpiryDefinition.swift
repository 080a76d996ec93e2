import JSONPath

/// `expires`: until when the captures of a stage are good.
package struct ExpiryDefinition: Sendable {
    /// Counted from the stage's end: a duration, or a number of seconds, as services give it.
    let duration: JSONTemplate?
    /// A moment: RFC 3339, or seconds since 1970.
    let moment: JSONTemplate?
    let range: SourceRange
    /// As the author wrote it, for people: "15m after it ended".
    package let words: String

    private static let inField = Field(
        "in", FieldType<JSONTemplate>.json([.stages, .own, .secrets, .job]), examples: ["15m"],
        "How long after the stage's end: a duration, or a number of seconds.")
    private static let atField = Field(
        "at", FieldType<JSONTemplate>.json([.stages, .own, .secrets, .job]), examples: ["${{ self.expires_at }}"],
        "When: a time as in RFC 3339, or a number of seconds since 1970.")

    static var type: FieldType<ExpiryDefinition> {
        .object([inField, atField]) { reader in
            let definition = ExpiryDefinition(
                duration: reader.optional(inField), moment: reader.optional(atField), range: reader.place.node.range,
                words: words(reader.place.node.json))
            if (definition.duration == nil) == (definition.moment == nil) {
                reader.findings.report(
                    reader.place, "'expires' needs either \"in\" or \"at\"", hint: "write { \"in\": \"15m\" }")
                return nil
            }
            definition.check(reader)
            return definition
        }
    }

    /// Reports a value that is wrong and that the document says without an expression: else it is found when the stage has
    /// ended.
    private func check(_ reader: ObjectReader) {
        do throws(ValueSyntaxError) {
            if let value = duration?.constant { _ = try Self.duration(value) }
            if let value = moment?.constant { _ = try Self.moment(value) }
        } catch {
            guard let place = reader.place(of: duration == nil ? "at" : "in") else { return }
            reader.findings.report(place, "the value of \"expires\" is wrong: \(error.message)", hint: error.hint)
        }
        guard case .template(let template)? = (duration ?? moment)?.root else { return }
        let check = SettingCheck(template, range: range) { scope throws(EvaluationFailure) in
            _ = try time(endedAt: Timestamp(milliseconds: 0), in: scope)
        }
        reader.findings.check(check, roots: [.stages, .own, .secrets, .job], at: reader.place)
    }

    private static func words(_ value: JSON) -> String {
        func text(_ value: JSON) -> String { value.string ?? value.text }
        guard let length = value["in"] else { return "at \(text(value["at"] ?? .null))" }
        let isCount = length.number != nil || length.string.flatMap(Double.init) != nil
        return "\(text(length))\(isCount ? "s" : "") after it ended"
    }

    /// The time after the stage's end, where the document says it without an expression.
    package var constantDuration: Duration? {
        duration?.constant.flatMap { (try? Self.duration($0)) ?? nil }
    }

    /// The moment, for a stage that ended at `end`; nil when the service gave none. The scope's `self` is the stage's.
    package func time(endedAt end: Timestamp, in scope: Scope) throws(EvaluationFailure) -> Timestamp? {
        let length = try duration?.evaluate(in: scope)
        let time = try moment?.evaluate(in: scope)
        do throws(ValueSyntaxError) {
            if let length { return try Self.duration(length).map { end + $0 } }
            return try time.flatMap { value throws(ValueSyntaxError) in try Self.moment(value) }
        } catch {
            throw .wrong(message: "the value of \"expires\" is wrong: \(error.message)", hint: error.hint, range: range)
        }
    }

    /// Returns when that is, as far as it is known before the stage has run: `15m after its end`.
    package func describe(in scope: Scope) -> String {
        func text(_ value: JSON) -> String { value.string ?? value.text }
        if let value = duration?.describe(in: scope) {
            return "\(value.number == nil ? text(value) : "\(text(value)) s") after its end"
        }
        return "at \(moment.map { text($0.describe(in: scope)) } ?? "")"
    }

    private static func duration(_ value: JSON) throws(ValueSyntaxError) -> Duration? {
        switch value {
        case .null: return nil
        case .number(let number): return .milliseconds(Int64(clampingMilliseconds: number.double))
        case .string(let text):
            if let seconds = Double(text) { return .milliseconds(Int64(clampingMilliseconds: seconds)) }
            return try DurationText.parse(text)
        default: throw ValueSyntaxError("it is \(value.kindName)", hint: "give a duration or a number of seconds")
        }
    }

    private static func moment(_ value: JSON) throws(ValueSyntaxError) -> Timestamp? {
        switch value {
        case .null: return nil
        case .number(let number): return Timestamp(milliseconds: Int64(clampingMilliseconds: number.double))
        case .string(let text):
            if let seconds = Double(text) { return Timestamp(milliseconds: Int64(clampingMilliseconds: seconds)) }
            return try Timestamp.parse(text)
        default: throw ValueSyntaxError("it is \(value.kindName)", hint: "give a time as in RFC 3339")
        }
    }
}

extension Int64 {
    /// Milliseconds of seconds that somebody else gave; what is out of all bounds stops at a century.
    fileprivate init(clampingMilliseconds seconds: Double) {
        self = seconds.isFinite ? Int64(Swift.min(Swift.max(seconds * 1000, -4e15), 4e15)) : 0
    }
}
