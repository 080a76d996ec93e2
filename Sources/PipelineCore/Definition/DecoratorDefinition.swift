package import JSONPath

/// One entry of a `with` list: a decorator's name and its configuration, which only its own kind can read.
package struct DecoratorDefinition: Sendable {
    package let name: String
    /// The place where the name stands.
    package let nameRange: SourceRange
    package let configuration: SourceLocation

    package static let field = Field(
        "with", .array(of: type), examples: [[["bearer": "${{ secrets.TOKEN }}"]]],
        "Decorators put on each request, the first innermost.")

    static var type: FieldType<DecoratorDefinition> {
        FieldType(schema: schema) { place, findings in
            guard let members = place.members?.filter({ !$0.member.isIgnored }) else {
                findings.report(
                    place, "a decorator must be an object with one key, not \(place.node.json.kindName)", hint: example)
                return nil
            }
            let count = members.isEmpty ? "none" : String(members.count)
            guard members.count == 1, let (member, value) = members.first else {
                findings.report(
                    place,
                    "a decorator must have exactly one key, and this has \(count)",
                    hint: members.isEmpty ? example : "put each in an object of its own: [ { … }, { … } ]")
                return nil
            }
            return DecoratorDefinition(name: member.name, nameRange: member.nameRange, configuration: value)
        }
    }

    private static let example = "for example { \"bearer\": \"${{ secrets.TOKEN }}\" }"

    /// The schema that is known without a catalogue; ``PipelineSchema`` puts the catalogue's decorators in its place.
    package static let schema: JSON = ["title": "decorator", "type": "object", "minProperties": 1]
}
