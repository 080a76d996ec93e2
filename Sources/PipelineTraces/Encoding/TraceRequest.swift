import JSONPath
import PipelineCore

/// One export of spans: `ExportTraceServiceRequest` of OTLP 1.x (https://opentelemetry.io/docs/specs/otlp/), with the
/// field numbers of opentelemetry/proto/trace/v1/trace.proto.
struct TraceRequest: Sendable {
    /// The resource that the spans come from.
    let resource: [Span.Attribute]
    let version: String
    let spans: [Span]

    private static let scope = "pipeline"

    // MARK: Protocol Buffers

    var protobuf: [UInt8] {
        var request = ProtobufWriter()
        request.write(1) { all in
            all.write(1) { resource in Self.write(self.resource, 1, into: &resource) }
            all.write(2) { scoped in
                scoped.write(1) { scope in
                    scope.write(Self.scope, 1)
                    scope.write(version, 2)
                }
                for span in spans { scoped.write(2) { Self.write(span, into: &$0) } }
            }
        }
        return request.bytes
    }

    private static func write(_ span: Span, into message: inout ProtobufWriter) {
        message.write(bytes(span.traceID), 1)
        message.write(bytes(span.spanID), 2)
        if let parent = span.parentID { message.write(bytes(parent), 4) }
        message.write(span.name, 5)
        message.write(UInt64(span.kind.rawValue), 6)
        message.write(fixed: nanoseconds(span.start), 7)
        message.write(fixed: nanoseconds(span.end), 8)
        write(span.attributes, 9, into: &message)
        if let link = span.link {
            message.write(13) { inner in
                inner.write(bytes(link.traceID), 1)
                inner.write(bytes(link.spanID), 2)
            }
        }
        if let error = span.error {
            message.write(15) { status in
                status.write(error, 2)
                status.write(UInt64(errorCode), 3)
            }
        }
    }

    private static func write(_ attributes: [Span.Attribute], _ field: Int, into message: inout ProtobufWriter) {
        for attribute in attributes {
            message.write(field) { pair in
                pair.write(attribute.name, 1)
                pair.write(2) { value in
                    switch attribute.value {
                    case .text(let text): value.write(text, 1)
                    case .integer(let number): value.write(UInt64(bitPattern: number), 3)
                    }
                }
            }
        }
    }

    /// STATUS_CODE_ERROR.
    private static let errorCode = 2

    private static func nanoseconds(_ milliseconds: Int64) -> UInt64 { UInt64(max(0, milliseconds)) * 1_000_000 }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { $0 >= 97 ? $0 - 87 : $0 - 48 }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    // MARK: JSON

    /// Ids in hex, whole numbers of 64 bits as strings (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
    var json: JSON {
        [
            "resourceSpans": [
                [
                    "resource": ["attributes": Self.json(resource)],
                    "scopeSpans": [
                        [
                            "scope": ["name": .string(Self.scope), "version": .string(version)],
                            "spans": .array(spans.map(Self.json)),
                        ]
                    ],
                ]
            ]
        ]
    }

    private static func json(_ span: Span) -> JSON {
        var object: JSONObject = [
            "traceId": .string(span.traceID), "spanId": .string(span.spanID), "name": .string(span.name),
            "kind": .number(JSONNumber(span.kind.rawValue)), "startTimeUnixNano": .string("\(nanoseconds(span.start))"),
            "endTimeUnixNano": .string("\(nanoseconds(span.end))"), "attributes": json(span.attributes),
        ]
        if let parent = span.parentID { object["parentSpanId"] = .string(parent) }
        if let link = span.link {
            object["links"] = [["traceId": .string(link.traceID), "spanId": .string(link.spanID)]]
        }
        if let error = span.error {
            object["status"] = ["message": .string(error), "code": .number(JSONNumber(errorCode))]
        }
        return .object(object)
    }

    private static func json(_ attributes: [Span.Attribute]) -> JSON {
        .array(
            attributes.map { attribute in
                let value: JSON =
                    switch attribute.value {
                    case .text(let text): ["stringValue": .string(text)]
                    case .integer(let number): ["intValue": .string("\(number)")]
                    }
                return ["key": .string(attribute.name), "value": value]
            })
    }
}
