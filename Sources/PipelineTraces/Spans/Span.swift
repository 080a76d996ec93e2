import PipelineCore

/// One span of a trace, as OpenTelemetry has it.
struct Span: Sendable, Hashable {
    /// SpanKind of opentelemetry/proto/trace/v1/trace.proto.
    enum Kind: Int, Sendable { case `internal` = 1, client = 3 }

    /// A value of an attribute.
    enum Value: Sendable, Hashable {
        case text(String)
        case integer(Int64)
    }

    /// A name with a value.
    struct Attribute: Sendable, Hashable {
        let name: String
        let value: Value

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, .text(value)) }
        init(_ name: String, _ value: Int64) { (self.name, self.value) = (name, .integer(value)) }
    }

    /// 32 hex digits.
    let traceID: String
    /// 16 hex digits.
    let spanID: String
    let parentID: String?
    let name: String
    let kind: Kind
    /// Milliseconds since the Unix epoch.
    let start: Int64
    let end: Int64
    var attributes: [Attribute] = []
    /// The error in words; nil when nothing did.
    var error: String?
    /// The span to which it is linked.
    var link: TraceLink?

    init(
        traceID: String, spanID: String, parentID: String?, name: String, kind: Kind = .internal, start: Int64,
        end: Int64
    ) {
        self.traceID = traceID
        self.spanID = spanID
        self.parentID = parentID
        self.name = name
        self.kind = kind
        self.start = start
        self.end = max(start, end)
    }
}
