public import JSONPath
public import PipelineCore

/// A decorator as the catalogue knows it: its name in a `with` list, and how its configuration is read.
public struct DecoratorKind: Sendable {
    /// The key of its object.
    public let name: String
    /// One sentence for the reference and the schema.
    public let summary: String
    /// The JSON Schema (2020-12) of its configuration.
    package var schema: JSON { makeSchema() }
    private let makeSchema: @Sendable () -> JSON
    /// Reads the configuration; nil after having reported mistakes. The roots are what its templates may read.
    package let read: @Sendable (SourceLocation, AllowedRoots, DiagnosticCollector) -> DecoratorTemplate?

    /// A decorator under the name that documents write.
    ///
    /// - Parameters:
    ///   - schema: the JSON Schema of the value that stands next to the name, made when it is asked for.
    ///   - read: reads that value once, when the document is planned. It reports each mistake where it stands, and
    ///     returns nil if there was one. The roots are those that a template may name there.
    public init(
        name: String, summary: String, schema: @autoclosure @escaping @Sendable () -> JSON,
        read: @escaping @Sendable (SourceLocation, AllowedRoots, DiagnosticCollector) -> DecoratorTemplate?
    ) {
        self.name = name
        self.summary = summary
        makeSchema = schema
        self.read = read
    }

    /// The schema with what people read about the kind.
    var annotatedSchema: JSON {
        let schema = schema
        guard case .object(var annotated) = schema else { return schema }
        annotated["description"] = .string(summary)
        return .object(annotated)
    }

    /// A kind whose configuration has a type that depends on the roots.
    init(
        _ name: String, _ summary: String, type: @escaping @Sendable (AllowedRoots) -> FieldType<DecoratorTemplate>
    ) {
        self.init(name: name, summary: summary, schema: type(AllowedRoots.request.union(.part)).schema) {
            place, roots, findings in
            let before = findings.uses.count
            let (template, secrets) = findings.countingSecrets { type(roots).read(place, findings) }
            guard var template else { return nil }
            template.captures = findings.uses[before...].map(\.reference).filter(\.isCapture)
            template.isCredential = template.isCredential || secrets > 0
            return template
        }
    }
}
