public import JSONPath

/// One entry of a `with` list: a decorator's name and its configuration, which only its own kind can read.
public struct DecoratorDefinition: Sendable {
    public let name: String
    /// Where the name stands.
    public let nameRange: SourceRange
    public let configuration: Place

    public static let field = Field(
        "with", .array(of: type), "Decorators put on each request, the first innermost.")

    static var type: FieldType<DecoratorDefinition> {
        FieldType(schema: ["type": "object", "minProperties": 1, "maxProperties": 1]) { place, findings in
            guard let members = place.members else {
                findings.report(
                    place, "a decorator must be an object with one key, not \(place.node.json.kindName)",
                    hint: "for example { \"bearer\": \"${{ secrets.TOKEN }}\" }")
                return nil
            }
            guard members.count == 1, let (member, value) = members.first else {
                findings.report(
                    place, "a decorator must have exactly one key, this has \(members.count)",
                    hint: "put each decorator in an object of its own")
                return nil
            }
            return DecoratorDefinition(name: member.name, nameRange: member.nameRange, configuration: value)
        }
    }
}
