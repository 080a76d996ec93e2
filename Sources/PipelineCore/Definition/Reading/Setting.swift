public import JSONPath

/// A duration, size, number or boolean of the document: a constant, or a template that is checked once its value is
/// known.
public enum Setting<Value: Sendable>: Sendable {
    case constant(Value)
    /// A template and how its value is read; the reading throws what is wrong with it. Rare, and so it takes no room in
    /// the many settings that are constant or absent.
    indirect case computed(Template, range: SourceRange, read: @Sendable (JSON) throws(ValueSyntaxError) -> Value)

    /// The value when no expression is needed for it.
    public var constant: Value? { if case .constant(let value) = self { value } else { nil } }

    /// The template when an expression is needed.
    public var template: Template? { if case .computed(let template, _, _) = self { template } else { nil } }

    /// The value in a scope.
    public func value(in scope: Scope) throws(EvaluationFailure) -> Value {
        switch self {
        case .constant(let value): return value
        case .computed(let template, let range, let read):
            let json = try template.evaluate(in: scope)
            do throws(ValueSyntaxError) {
                return try read(json)
            } catch {
                let shown = json.text.count > 60 ? String(json.text.prefix(57)) + "…" : json.text
                throw .wrong(
                    message: "\(template.text) gives \(shown), and \(error.message)", hint: error.hint, range: range)
            }
        }
    }
}

extension FieldType {
    /// A constant, or a template whose value is read in the same way; it is checked as soon as it is known.
    /// - Parameter computed: how a template's value is read; nil for as a constant.
    public static func setting<Inner: Sendable>(
        schema: @autoclosure @escaping @Sendable () -> JSON, roots: AllowedRoots,
        computed: (@Sendable (JSON) throws(ValueSyntaxError) -> Inner)? = nil,
        read: @escaping @Sendable (JSON) throws(ValueSyntaxError) -> Inner
    ) -> FieldType<Setting<Inner>> where Value == Setting<Inner> {
        FieldType(schema: schema()) { place, findings in
            if let text = place.text, TemplateReader.hasExpression(text) {
                guard let template = FieldType<Template>.template(roots).read(place, findings) else { return nil }
                let setting = Setting.computed(template, range: place.node.range, read: computed ?? read)
                findings.check(SettingCheck(setting, template, range: place.node.range), roots: roots, at: place)
                return setting
            }
            do throws(ValueSyntaxError) {
                return .constant(try read(place.node.json))
            } catch {
                findings.report(place, error.message, hint: error.hint)
                return nil
            }
        }
    }

    /// A duration such as `"30s"`, or a template.
    public static func duration(_ roots: AllowedRoots = .request) -> FieldType where Value == Setting<Duration> {
        setting(schema: .duration, roots: roots) { json throws(ValueSyntaxError) in try Duration.read(json) }
    }

    /// Returns this type with a warning of a constant that is shorter than what has a meaning.
    package func warning(below minimum: Duration) -> FieldType where Value == Setting<Duration> {
        FieldType(schema: self.schema) { place, findings in
            let setting = self.read(place, findings)
            if let value = setting?.constant, value < minimum {
                findings.warn(
                    place, "nothing is done in less than \(DurationText.describe(minimum))",
                    hint: "write a longer one, or leave it out")
            }
            return setting
        }
    }

    /// A size such as `"8MiB"`, or a template. A bare number that a template gives is one of bytes: services say sizes so.
    public static func size(_ roots: AllowedRoots = .request) -> FieldType where Value == Setting<Int64> {
        setting(
            schema: .size, roots: roots,
            computed: { json throws(ValueSyntaxError) in
                guard let bytes = json.number?.int ?? json.string.flatMap({ Int($0) }) else {
                    return try Int64.readSize(json)
                }
                guard bytes >= 0 else { throw ValueSyntaxError("a size is not negative") }
                return Int64(bytes)
            }, read: { json throws(ValueSyntaxError) in try Int64.readSize(json) })
    }

    /// A rate such as `"500KB/s"` in bytes per second, or a template.
    public static func rate(_ roots: AllowedRoots = .request) -> FieldType where Value == Setting<Int64> {
        setting(schema: .rate, roots: roots) { json throws(ValueSyntaxError) in
            if let number = json.number { throw RateText.bareNumber(number.literal) }
            guard let text = json.string else {
                throw ValueSyntaxError(
                    "this must be a rate in a string, not \(json.kindName)",
                    hint: "write it with its unit, such as \"500KB/s\"")
            }
            return try RateText.parse(text)
        }
    }

    /// A whole number within bounds, or a template.
    public static func count(
        _ bounds: ClosedRange<Int>, roots: AllowedRoots = .request
    ) -> FieldType where Value == Setting<Int> {
        setting(schema: .countOrTemplate(bounds), roots: roots) { json throws(ValueSyntaxError) in
            guard let value = json.number?.int, bounds.contains(value) else {
                let quoted = json.string.flatMap { Int($0) }
                let isOutside = json.number?.int != nil
                throw ValueSyntaxError(
                    "this must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                    hint: quoted.map { "write \($0) without quotes" }
                        ?? (isOutside ? "choose one within these bounds" : "for example \(bounds.example)"))
            }
            return value
        }
    }
}

extension FieldType {
    /// A number within bounds, or a template.
    public static func quantity(
        _ bounds: ClosedRange<Double>, roots: AllowedRoots = .request
    ) -> FieldType where Value == Setting<Double> {
        setting(schema: .quantityOrTemplate(bounds), roots: roots) { json throws(ValueSyntaxError) in
            if let value = json.number?.double, bounds.contains(value) { return value }
            let (least, most) = (JSONNumber(bounds.lowerBound).literal, JSONNumber(bounds.upperBound).literal)
            let quoted = json.string.flatMap { Double($0) == nil ? nil : $0 }
            throw ValueSyntaxError(
                "this must be a number from \(least) to \(most)",
                hint: quoted.map { "write \($0) without quotes" }
                    ?? "for example \(JSONNumber(bounds.example).literal)")
        }
    }

    /// `true` or `false`, or a template.
    public static func flag(_ roots: AllowedRoots = .request) -> FieldType where Value == Setting<Bool> {
        setting(
            schema: ["anyOf": [["type": "boolean"], .anyTemplate]], roots: roots
        ) { json throws(ValueSyntaxError) in
            if let flag = json.bool { return flag }
            let isQuoted = ["true", "false"].contains(json.string)
            let words = ["yes": "true", "on": "true", "no": "false", "off": "false"]
            throw ValueSyntaxError(
                "this must be true or false, not \(json.kindName)",
                hint: isQuoted
                    ? "write \(json.string ?? "true") without quotes"
                    : json.string.flatMap { words[$0.lowercased()] }.map { "write \($0)" }
                        ?? "write true or false, without quotes")
        }
    }
}

extension Int64 {
    fileprivate static func readSize(_ json: JSON) throws(ValueSyntaxError) -> Int64 {
        if let number = json.number { throw SizeText.bareNumber(number.literal) }
        guard let text = json.string else {
            throw ValueSyntaxError(
                "this must be a size in a string, not \(json.kindName)",
                hint: "write it with its unit, such as \"64KiB\" or \"8MiB\"")
        }
        return try SizeText.parse(text)
    }
}

extension Duration {
    fileprivate static func read(_ json: JSON) throws(ValueSyntaxError) -> Duration {
        if let number = json.number { throw DurationText.bareNumber(number.literal) }
        guard let text = json.string else {
            throw ValueSyntaxError(
                "this must be a duration in a string, not \(json.kindName)",
                hint: "write it with its unit, such as \"30s\", \"5m\" or \"1h30m\"")
        }
        return try DurationText.parse(text)
    }
}

extension JSON {
    private static let durationPattern = "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$"
    private static let template = #"\$\{\{"#

    static var duration: JSON {
        [
            "title": "duration", "type": "string", "minLength": 2,
            "pattern": .string("\(durationPattern)|\(template)"), "examples": ["250ms", "30s", "5m", "1h30m", "7d"],
        ]
    }

    fileprivate static var size: JSON {
        [
            "title": "size", "type": "string", "pattern": .string("^[0-9]+([KMGT]i?)?B$|\(template)"),
            "examples": ["64KiB", "8MiB", "1GB"],
        ]
    }

    fileprivate static var rate: JSON {
        [
            "title": "rate", "type": "string", "pattern": .string("^[0-9]+([KMGT]i?)?B/s$|\(template)"),
            "examples": ["500KB/s"],
        ]
    }

    fileprivate static func countOrTemplate(_ bounds: ClosedRange<Int>) -> JSON {
        ["anyOf": [.integer(bounds), anyTemplate]]
    }

    fileprivate static func quantityOrTemplate(_ bounds: ClosedRange<Double>) -> JSON {
        [
            "anyOf": [
                [
                    "type": "number", "minimum": .number(JSONNumber(bounds.lowerBound)),
                    "maximum": .number(JSONNumber(bounds.upperBound)),
                ], anyTemplate,
            ]
        ]
    }

    /// The schema of a string with an expression in it.
    public static var anyTemplate: JSON { ["title": "template", "type": "string", "pattern": .string(template)] }
}
