import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A collector of traces on loopback, which keeps what it was sent.
final class Collector: Sendable {
    let server: LoopbackServer
    private let bodies: BodyList
    /// Open once it has taken the request after the one that it was too busy for.
    let hasRest: Gate

    /// - Parameters:
    ///   - status: what it answers.
    ///   - lost: the number of the request, from 1, that it is too busy for; nil for none.
    init(status: Int = 200, lost: Int? = nil) throws {
        let list = BodyList()
        bodies = list
        let gate = Gate()
        hasRest = gate
        server = try LoopbackServer { request in
            if request.number == lost { return .status(503) }
            list.append(request)
            if let lost, request.number == lost + 1 { gate.open() }
            return .status(status)
        }
    }

    private final class BodyList: Sendable {
        private let all = Mutex<[ReceivedRequest]>([])
        func append(_ request: ReceivedRequest) { all.withLock { $0.append(request) } }
        var requests: [ReceivedRequest] { all.withLock { $0 } }
    }

    var requests: [ReceivedRequest] { bodies.requests }

    var environment: [String: String] { ["OTEL_EXPORTER_OTLP_ENDPOINT": server.url] }

    /// Decodes what OpenTelemetry's own classes read, as the JSON that these print.
    private static let decoder = """
        import sys, json
        from google.protobuf.json_format import MessageToDict
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        request = ExportTraceServiceRequest()
        request.ParseFromString(sys.stdin.buffer.read())
        print(json.dumps(MessageToDict(request)))
        """

    /// All spans, as OpenTelemetry's own classes read them.
    func decoded(in workplace: Workplace) async throws -> [ReadSpan] {
        var spans: [ReadSpan] = []
        for request in requests {
            let file = try workplace.write("spans.bin", request.body)
            let end = try await ForeignReader.run(Self.decoder, on: file)
            try #require(end.cause == .exited(0), "\(end)")
            spans += try ReadSpan.all(in: JSON.parse(Array(end.output.utf8))) { text in
                // The classes write bytes in base64.
                Data(base64Encoded: text).map { $0.map { String(format: "%02x", $0) }.joined() } ?? ""
            }
        }
        return spans
    }

    /// All spans of requests in JSON.
    func read() throws -> [ReadSpan] {
        try requests.flatMap { try ReadSpan.all(in: JSON.parse($0.body)) { $0 } }
    }
}

/// A span as a collector has it.
struct ReadSpan {
    let id: String
    let trace: String
    let parent: String?
    let name: String
    let isClient: Bool
    let start: Int
    let end: Int
    let attributes: [String: String]
    let isError: Bool
    let link: String?

    static func all(in request: JSON, id: (String) -> String) throws -> [ReadSpan] {
        let scopes = (request["resourceSpans"]?.array ?? []).flatMap { $0["scopeSpans"]?.array ?? [] }
        return try scopes.flatMap { $0["spans"]?.array ?? [] }.map { try ReadSpan($0, id: id) }
    }

    private init(_ json: JSON, id: (String) -> String) throws {
        self.id = id(try #require(json["spanId"]?.string))
        trace = id(try #require(json["traceId"]?.string))
        parent = json["parentSpanId"]?.string.map(id)
        name = try #require(json["name"]?.string)
        isClient = json["kind"] == "SPAN_KIND_CLIENT" || json["kind"]?.number?.int == 3
        start = try #require(json["startTimeUnixNano"]?.string.flatMap { Int($0) })
        end = try #require(json["endTimeUnixNano"]?.string.flatMap { Int($0) })
        var attributes: [String: String] = [:]
        for attribute in json["attributes"]?.array ?? [] {
            let value = attribute["value"]
            attributes[attribute["key"]?.string ?? ""] = value?["stringValue"]?.string ?? value?["intValue"]?.string
        }
        self.attributes = attributes
        isError = json["status"]?["code"] == "STATUS_CODE_ERROR" || json["status"]?["code"]?.number?.int == 2
        link = json["links"]?.array?.first?["spanId"]?.string.map(id)
    }

    /// Returns what is wrong with a whole trace of one job; empty when nothing is.
    static func mistakes(in spans: [ReadSpan]) -> [String] {
        let ids = Set(spans.map(\.id))
        var mistakes: [String] = []
        if ids.count != spans.count { mistakes.append("a span was exported twice") }
        if Set(spans.map(\.trace)).count != 1 { mistakes.append("there is more than one trace") }
        if spans.count(where: { $0.parent == nil }) != 1 { mistakes.append("there is not one root") }
        for span in spans {
            if let parent = span.parent, !ids.contains(parent) { mistakes.append("\(span.name) has no parent") }
            if span.end < span.start { mistakes.append("\(span.name) ends before it begins") }
        }
        return mistakes
    }
}
