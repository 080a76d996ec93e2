import JSONPath
import PipelineCore

/// The configuration of a decorator or a sink: one value of the document, whose strings are templates.
struct PluginConfiguration: Sendable {
    private let program: PluginProgram
    private let schema: JSONSchema
    private let template: JSONTemplate
    private let range: SourceRange
    /// True if it is made from a secret.
    let isSecret: Bool

    /// Reads it; nil after having reported mistakes. What its own schema says is checked, templates but for their values.
    init?(
        _ place: SourceLocation, of program: PluginProgram, schema: JSONSchema, roots: AllowedRoots,
        findings: DiagnosticCollector
    ) {
        let before = findings.diagnostics.count
        findings.report(schema.mistakes(at: place))
        let template = FieldType<JSONTemplate>.json(roots, optionalMembers: false).read(place, findings)
        guard let template, findings.diagnostics.count == before else { return nil }
        self.template = template
        isSecret = template.references.contains(where: findings.isSecret)
        self.program = program
        self.schema = schema
        range = place.node.range
    }

    /// The configuration for these values of names, checked again now that they are known.
    func value(in scope: Scope) throws(EvaluationFailure) -> JSON {
        let value = try template.evaluate(in: scope)
        guard let mistake = schema.mistakes(in: value).first else { return value }
        let spot = mistake.pointer.isEmpty ? "" : " at \(mistake.pointer)"
        throw .wrong(
            message:
                "the configuration of the \(program.role.rawValue) '\(program.name)' is wrong\(spot): \(mistake.message)",
            hint: "an expression in it gives a value that '\(program.name)' does not take", range: range)
    }
}
