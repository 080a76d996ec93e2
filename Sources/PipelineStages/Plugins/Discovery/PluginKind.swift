import JSONPath
import PipelineCore

/// Makes a kind of stage of what a plugin says of itself.
enum PluginKind {
    /// A step whose program hangs is ended after this time, unless the document gives it a `deadline`.
    static let defaultDeadline = Duration.seconds(86_400)

    static func make(
        _ program: PluginProgram, _ description: PluginDescription, settings: PluginSettings
    ) -> StageKind {
        let top = description.schema.json.object ?? [:]
        let fields = fields(of: top)
        return StageKind(
            name: program.name, summary: description.summary ?? "The plugin \(program.name).", fields: fields,
            defaultDeadline: defaultDeadline, allowsOtherKeys: allowsOtherKeys(top),
            constraints: constraints(of: top)
        ) { reading in
            reading.declare(description.captures)
            let before = reading.findings.diagnostics.count
            check(reading, fields, JSONSchema(.object(rest(of: top))))
            guard let configuration = configuration(of: reading),
                reading.findings.diagnostics.count == before
            else { return nil }
            let stage = ProgramStage(
                program: program, description: description, configuration: configuration, settings: settings)
            return AnyStage(
                stage, coding: .program, work: .remoteJob(submits: true, isPushed: false),
                settlesSubmit: description.submitsOnce)
        }
    }

    /// A kind whose plugin can't be used: a stage of it is a mistake that says why.
    static func broken(_ program: PluginProgram, _ fault: PluginFault) -> StageKind {
        StageKind(
            name: program.name, summary: "The plugin at \(program.path) can't be used.", fields: [],
            allowsOtherKeys: true
        ) { reading in
            let place = reading.reader.place.members?.first { $0.member.name == "kind" }?.place
            program.report(fault, at: place ?? reading.reader.place, to: reading.findings)
            return nil
        }
    }

    // MARK: Reading

    private static func fields(of schema: JSONObject) -> [Field<SourceLocation>] {
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        return (schema["properties"]?.object ?? [:]).map { name, property in
            let checked = JSONSchema(property)
            let type = FieldType<SourceLocation>(schema: JSON.schemaWithTemplates(property)) { place, findings in
                findings.report(checked.mistakes(at: place))
                return place
            }
            let examples = property["examples"]?.array ?? []
            return Field(
                name, type, required: required.contains(name), default: property["default"], examples: examples,
                property["description"]?.string ?? "A key of this plugin.")
        }
    }

    private static func check(_ reading: StageReading, _ fields: [Field<SourceLocation>], _ rest: JSONSchema) {
        for field in fields {
            _ = field.isRequired ? reading.reader.required(field) : reading.reader.optional(field)
        }
        reading.findings.report(rest.mistakes(at: place(of: reading)))
    }

    /// The configuration: the stage's keys but the common ones, its strings templates.
    private static func configuration(of reading: StageReading) -> JSONTemplate? {
        FieldType<JSONTemplate>.json(optionalMembers: false).read(place(of: reading), reading.findings)
    }

    private static func place(of reading: StageReading) -> SourceLocation {
        let whole = reading.reader.place
        let members = reading.ownMembers.map(\.member)
        return SourceLocation(JSONNode(range: whole.node.range, content: .object(members)), pointer: whole.pointer)
    }

    // MARK: Parts of the schema

    /// Keys beyond the declared ones are mistakes, unless the schema says that it takes more.
    private static func allowsOtherKeys(_ schema: JSONObject) -> Bool {
        switch schema["additionalProperties"] {
        case .bool(let flag)?: flag
        case .object?: true
        default: schema["properties"] == nil
        }
    }

    /// Returns what the fields do not say: alternatives, and what other keys may hold.
    private static func rest(of schema: JSONObject) -> JSONObject {
        var rest = schema
        for name in ["required", "additionalProperties"] { rest[name] = nil }
        // The declared keys are checked as fields, where mistyped ones are understood.
        rest["properties"] = schema["properties"]?.object.map { properties in
            .object(JSONObject(properties.map { ($0.name, JSON.bool(true)) }))
        }
        if case .object? = schema["additionalProperties"] {
            rest["additionalProperties"] = schema["additionalProperties"]
        }
        return rest
    }

    private static func constraints(of schema: JSONObject) -> JSON? {
        var constraints = JSONObject()
        for name in ["allOf", "anyOf", "oneOf"] { constraints[name] = schema[name] }
        return constraints.isEmpty ? nil : JSON.schemaWithTemplates(.object(constraints))
    }
}
