import JSONPath

/// The source of the items over which a stage is repeated.
package enum ForEachDefinition: Sendable {
    /// Each element of an array, all at hand when the stage begins.
    case elements(Expression)
    /// Each item of another stage, as soon as that item has succeeded.
    case items(of: String, at: SourceLocation)

    static let stageField = Field(
        "stage", FieldType<SourceLocation>.text, required: true, examples: ["upload"],
        "A stage with forEach, by its id.")

    static var type: FieldType<ForEachDefinition> {
        let elements = FieldType<Expression>.expression([.stages, .job, .secrets]).map { Self.elements($0) }
        let items = FieldType<ForEachDefinition>.object([stageField]) { reader in
            reader.required(stageField).flatMap { place in place.text.map { .items(of: $0, at: place) } }
        }
        let either = FieldType.either(items, when: \.isObject, or: elements)
        return FieldType(schema: either.schema) { place, findings in
            guard place.node.content.isArray else { return either.read(place, findings) }
            let list = place.node.json.text
            findings.report(
                place, "this must be an expression that gives an array, not the array itself",
                hint:
                    "give the array to an input, { \"type\": \"json\", \"default\": \(list.count > 40 ? "[…]" : list) }, "
                    + "and write \"inputs.NAME\"")
            return nil
        }
    }

    /// The stage whose items it follows.
    package var followed: String? { if case .items(let stage, _) = self { stage } else { nil } }
}
