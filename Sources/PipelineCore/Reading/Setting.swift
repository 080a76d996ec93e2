public import JSONPath

/// A duration, size, number or boolean of the document: a constant, or a template that is checked once its value is
/// known.
public enum Setting<Value: Sendable>: Sendable {
    case constant(Value)
    /// A template and how its value is read; the reading throws what is wrong with it.
    case computed(Template, range: SourceRange, read: @Sendable (JSON) throws(ValueSyntaxError) -> Value)

    /// The value when no expression is needed for it.
    public var constant: Value? { if case .constant(let value) = self { value } else { nil } }

    /// The value in a scope.
    public func value(in scope: Scope) throws(EvaluationFailure) -> Value {
        switch self {
        case .constant(let value): return value
        case .computed(let template, let range, let read):
            let json = try template.evaluate(in: scope)
            do throws(ValueSyntaxError) {
                return try read(json)
            } catch {
                throw .wrong(message: error.message, hint: error.hint, range: range)
            }
        }
    }
}

extension FieldType {
    private static func setting<Inner: Sendable>(
        schema: JSON, roots: AllowedRoots, read: @escaping @Sendable (JSON) throws(ValueSyntaxError) -> Inner
    ) -> FieldType<Setting<Inner>> where Value == Setting<Inner> {
        FieldType(schema: schema) { place, findings in
            if let text = place.text, text.contains("${{") {
                return FieldType<Template>.template(roots).read(place, findings).map {
                    .computed($0, range: place.node.range, read: read)
                }
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
        setting(schema: ["type": "string"], roots: roots) { json throws(ValueSyntaxError) in
            guard let text = json.string else {
                throw ValueSyntaxError(
                    "this must be a duration in a string, not \(json.kindName)",
                    hint: "write it with its unit, such as \"30s\", \"5m\" or \"1h30m\"")
            }
            return try DurationText.parse(text)
        }
    }

    /// A size such as `"8MiB"`, or a template.
    public static func size(_ roots: AllowedRoots = .request) -> FieldType where Value == Setting<Int64> {
        setting(schema: ["type": "string"], roots: roots) { json throws(ValueSyntaxError) in
            guard let text = json.string else {
                throw ValueSyntaxError(
                    "this must be a size in a string, not \(json.kindName)",
                    hint: "write it with its unit, such as \"64KiB\" or \"8MiB\"")
            }
            return try SizeText.parse(text)
        }
    }

    /// A whole number within bounds, or a template.
    public static func count(
        _ bounds: ClosedRange<Int>, roots: AllowedRoots = .request
    ) -> FieldType where Value == Setting<Int> {
        let schema: JSON = ["type": ["integer", "string"], "minimum": .number(JSONNumber(bounds.lowerBound))]
        return setting(schema: schema, roots: roots) { json throws(ValueSyntaxError) in
            guard let value = json.number?.int, bounds.contains(value) else {
                throw ValueSyntaxError(
                    "this must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                    hint: nil)
            }
            return value
        }
    }
}
