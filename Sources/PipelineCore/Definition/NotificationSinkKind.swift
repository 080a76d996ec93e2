public import JSONPath

/// A sink that is not of the format itself: the key in an entry of `notify`, and how its configuration is read.
public struct NotificationSinkKind: Sendable {
    /// The key that chooses it.
    public let name: String
    /// One sentence for the schema and the reference.
    public let summary: String
    /// The type by which its configuration is read; the schema comes from it too.
    let type: FieldType<NotificationSinkTemplate>

    /// - Parameters:
    ///   - schema: the JSON Schema (2020-12) of the configuration.
    ///   - read: nil after having reported mistakes. Templates in it may read what a service's may.
    public init(
        name: String, summary: String, schema: JSON,
        read: @escaping @Sendable (SourceLocation, DiagnosticCollector) -> NotificationSinkTemplate?
    ) {
        self.name = name
        self.summary = summary
        type = FieldType(schema: schema, read: read)
    }

    var field: Field<NotificationSinkTemplate> { Field(name, type, summary) }
}

/// A sink as the document has it: read and in itself right, its values not yet put in.
public struct NotificationSinkTemplate: Sendable {
    /// The name of its kind.
    public let name: String
    /// Makes the sink just before it is used.
    public let resolve: @Sendable (Scope) throws(EvaluationFailure) -> any NotificationSink

    /// A sink whose values are found when there is something to deliver; `resolve` does no input or output.
    public init(
        name: String, resolve: @escaping @Sendable (Scope) throws(EvaluationFailure) -> any NotificationSink
    ) {
        self.name = name
        self.resolve = resolve
    }
}
