import HTTPTypes
import JSONPath
import PipelineHTTP

/// Sends spans to the collector of the settings.
struct SpanSender: Sendable {
    /// The outcome of one request (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response).
    enum Outcome: Sendable {
        case taken
        /// The collector is away, or has to be told by whom and where: a later time may do.
        case postponed(reason: String)
        /// The collector would take these spans at no time.
        case refused(reason: String)
    }

    let settings: TraceSettings
    let version: String
    let network: Network

    func send(_ spans: [Span]) async -> Outcome {
        let content = TraceRequest(resource: settings.resource, version: version, spans: spans)
        let body = settings.isJSON ? content.json.bytes : content.protobuf
        var request = RequestDescription(method: .post, url: settings.url, query: [], body: .bytes(body))
        request.headers[.contentType] = settings.isJSON ? "application/json" : "application/x-protobuf"
        for (name, value) in settings.headers { try? request.setCredentialHeader(name, to: value) }
        var options = ExchangeOptions(totalTimeout: settings.timeout, maximumBodyBytes: 64 << 10)
        options.redirects = 0
        let status: Int
        do throws(ExchangeFailure) {
            status = try await network.exchange(request, options: options).status
        } catch {
            return .postponed(reason: "traces wait for their collector: \(error.message)")
        }
        let collector = URLParts(settings.url)?.origin ?? "the collector"
        switch status {
        case 200..<300: return .taken
        case 300..<400, 401, 403, 404, 429, 502, 503, 504:
            return .postponed(reason: "traces wait for their collector: \(collector) responds with status \(status)")
        default:
            return .refused(reason: "\(collector) refuses spans with status \(status); those are lost")
        }
    }
}
