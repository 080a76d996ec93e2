package import JSONPath

/// The JSON Schema (2020-12) of pipeline documents, for editors and other programs.
///
/// It is made from the tables of fields that the reader itself uses, with the kinds and decorators of a catalogue. It
/// says what a document may look like; that references lead somewhere, expressions parse and values agree with each
/// other only the planner can tell. A document that it accepts can have mistakes; one that it refuses has.
package struct PipelineSchema: Sendable {
    private let catalogue: Catalogue

    package init(catalogue: Catalogue) { self.catalogue = catalogue }

    /// The whole schema; the same catalogue always gives the same.
    package var json: JSON {
        var sharing = SchemaSharing(
            replacing: [
                "stage": stage, "decorator": catalogue.decoratorSchema(),
                "notification": NotifyDefinition.schema(with: catalogue.sinks),
            ])
        let (root, definitions) = sharing.share(PipelineDefinition.fields.objectSchema)
        var schema: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:pipeline:document:1",
            "title": "Pipeline", "description": "A pipeline document, version 1 of the format.",
        ]
        for (name, value) in root { schema[name] = value }
        schema["$defs"] = .object(definitions)
        return .object(schema)
    }

    /// A stage: what its kind is decides which keys it has.
    private var stage: JSON {
        let kinds = catalogue.kinds.values.sorted { $0.name < $1.name }
        let branches = kinds.map { kind -> JSON in
            [
                "if": ["properties": ["kind": ["const": .string(kind.name)]], "required": ["kind"]],
                "then": schema(of: kind),
            ]
        }
        return [
            "title": "stage", "type": "object", "required": ["id", "kind"],
            "properties": [
                "kind": [
                    "type": "string", "enum": .array(kinds.map { .string($0.name) }),
                    "description": "What the stage does; it decides about the other keys.",
                ]
            ],
            "allOf": .array(branches),
        ]
    }

    private func schema(of kind: StageKind) -> JSON {
        var schema: JSONObject = ["title": .string("\(kind.name)Stage"), "description": .string(kind.summary)]
        for (name, value) in (StageOptions.fields + kind.fields).objectSchema.object ?? [:] {
            schema[name] = value
        }
        if kind.allowsOtherKeys { schema["additionalProperties"] = nil }
        if let constraints = kind.constraints() { schema["allOf"] = [constraints] }
        return .object(schema)
    }
}
