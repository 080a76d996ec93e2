public import JSONPath

/// A kind of stage as the catalogue knows it: how its configuration is read, and what the planner must know of it.
public struct StageKind: Sendable {
    /// The word after `"kind":`.
    public let name: String
    /// One sentence for the reference and the schema.
    public let summary: String
    /// The keys of its own, besides those that all stages have.
    package let fields: [any AnyField]
    /// All keys that its stages may have.
    let table: FieldTable
    /// The schema that the stage's object must match beyond its fields, such as a `oneOf` of keys; for the JSON Schema
    /// only.
    package let constraints: @Sendable () -> JSON?
    /// The deadline of a stage that has none of its own.
    package let defaultDeadline: Duration?
    /// True if the stage itself ends by its deadline, for example because it asks once more before.
    package let keepsOwnDeadline: Bool
    /// True if a stage that is run again for fresh captures goes on from its checkpoint and its submit, such as one
    /// that asks again for the result of its remote job.
    package let keepsSubmit: Bool
    /// True if the stage may have keys beyond its fields, which it checks itself.
    package let allowsOtherKeys: Bool
    /// Reads the configuration and makes the stage; nil after having reported mistakes.
    package let make: @Sendable (StageReading) -> AnyStage?

    /// A kind of stage under the name that documents write.
    ///
    /// - Parameters:
    ///   - fields: all keys that it reads, besides those of every stage.
    ///   - defaultDeadline: how long a step may take where the document has no `deadline`; nil for one without limit.
    ///   - keepsOwnDeadline: true for a stage that ends by its deadline itself.
    ///   - keepsSubmit: true for a stage that goes on from its checkpoint and its submit when it runs again for fresh
    ///     captures.
    ///   - allowsOtherKeys: true for a stage that may have keys beyond its fields, which it checks itself.
    ///   - constraints: more of the JSON Schema than a table of fields can say.
    ///   - make: makes the stage of a document, once, when it is planned. It reports each mistake where it stands, and
    ///     returns nil if there was one. It does no input or output.
    public init(
        name: String, summary: String, fields: [any AnyField], defaultDeadline: Duration? = nil,
        keepsOwnDeadline: Bool = false, keepsSubmit: Bool = false, allowsOtherKeys: Bool = false,
        constraints: @autoclosure @escaping @Sendable () -> JSON? = nil,
        make: @escaping @Sendable (StageReading) -> AnyStage?
    ) {
        self.name = name
        self.summary = summary
        self.fields = fields
        table = FieldTable(StageOptions.fields + fields)
        self.defaultDeadline = defaultDeadline
        self.keepsOwnDeadline = keepsOwnDeadline
        self.keepsSubmit = keepsSubmit
        self.allowsOtherKeys = allowsOtherKeys
        self.constraints = constraints
        self.make = make
    }
}

/// The source from which a kind reads its configuration.
public struct StageReading {
    /// The stage's object; its common keys are known to it too.
    public let reader: ObjectReader
    /// The stage's `id` in the document.
    public let id: String
    /// The service that the stage names, kept once for all stages that name it; absent when it names none.
    package let sharedService: IndirectOptional<ServiceDefinition>
    /// Decorators from outside the request, from the inside out: the stage's, its service's, the pipeline's.
    package let decorators: [[DecoratorDefinition]]
    package let retry: RetryPolicy

    /// The mistakes and declarations of the whole document.
    public var findings: DiagnosticCollector { reader.findings }

    /// The members that are the kind's own: neither those of all stages nor those that mean nothing (`$schema`, `x-`).
    public var ownMembers: [(member: JSONNode.Member, place: SourceLocation)] {
        let common = Set(StageOptions.fields.map(\.name))
        return (reader.place.members ?? []).filter { entry in
            !common.contains(entry.member.name) && !entry.member.isIgnored
        }
    }

    /// Declares what later stages may read.
    public func declare(_ captures: [CaptureDeclaration]) {
        for capture in captures { findings.declare(capture) }
    }
}

/// All kinds of stage that a program knows. Built-in kinds are registered like any other.
package struct Catalogue: Sendable {
    package private(set) var kinds: [String: StageKind]
    /// The names of kinds that documents may name besides, for hints.
    package var otherKinds: [String] = []
    /// Sinks of notifications beyond those of the format, in order of the alphabet.
    package private(set) var sinks: [NotificationSinkKind] = []
    let decoratorSchema: @Sendable () -> JSON
    /// Reports the mistakes of `with` lists that no stage reads.
    package let checkDecorators: @Sendable ([DecoratorDefinition], DiagnosticCollector) -> Void

    /// - Parameter decoratorSchema: the JSON Schema (2020-12) of one entry of a `with` list; evaluated when asked for.
    package init(
        kinds: [StageKind], decoratorSchema: @autoclosure @escaping @Sendable () -> JSON = DecoratorDefinition.schema,
        checkDecorators: @escaping @Sendable ([DecoratorDefinition], DiagnosticCollector) -> Void
    ) {
        self.kinds = [:]
        self.decoratorSchema = decoratorSchema
        self.checkDecorators = checkDecorators
        for kind in kinds { register(kind) }
    }

    /// Adds a kind; one of the same name is replaced.
    package mutating func register(_ kind: StageKind) { kinds[kind.name] = kind }

    /// Adds a sink; one of the same name is replaced.
    package mutating func register(_ sink: NotificationSinkKind) {
        sinks = (sinks.filter { $0.name != sink.name } + [sink]).sorted { $0.name < $1.name }
    }
}
