import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A request that carries a notification, signed after Standard Webhooks 1.0.0 (https://www.standardwebhooks.com).
///
/// `webhook-id` is the notification's own, so that a receiver knows a repetition; it is there without a signature too.
struct WebhookSink: NotificationSink {
    let network: Network
    let clock: any WallClock
    let method: HTTPRequest.Method
    private let url: String
    private let query: [(name: String, value: String)]
    private let headers: [(name: String, value: String)]
    /// A body of the author's; nil for the notification itself.
    private let body: JSON?
    private let timeout: Duration
    private let secret: String?
    var decorators: [any RequestDecorator] = []

    init(
        _ definition: WebhookDefinition, in scope: Scope, network: Network, clock: any WallClock
    ) throws(EvaluationFailure) {
        self.network = network
        self.clock = clock
        method = HTTPRequest.Method(definition.method) ?? .post
        url = try definition.url.evaluateText(in: scope)
        query = try Self.pairs(definition.query, scope)
        headers = try Self.pairs(definition.headers, scope)
        body = try definition.body?.evaluate(in: scope)
        timeout = try definition.timeout?.value(in: scope) ?? .seconds(30)
        secret = try definition.signature?.evaluateText(in: scope)
    }

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        let bytes = (body ?? notification.json).bytes
        // A request that asks for a page has no body, unless the author gave it one.
        let isBare = method == .get && body == nil
        var request = RequestDescription(method: method, url: url, query: query, body: isBare ? .none : .bytes(bytes))
        if !isBare { request.headers[.contentType] = "application/json" }
        let seconds = clock.now.milliseconds / 1000
        var fields = [("webhook-id", notification.id), ("webhook-timestamp", "\(seconds)")]
        if let secret {
            let signature = StandardWebhook(secret: secret)
                .signature(id: notification.id, seconds: seconds, body: isBare ? [] : bytes)
            fields.append(("webhook-signature", signature))
        }
        for (name, value) in fields + headers.map({ ($0.name, $0.value) }) {
            if let name = HTTPField.Name(name) { request.headers[name] = value }
        }
        try await network.post(request, decorators: decorators, timeout: timeout)
    }

    /// Names and texts; null leaves a value out, an array repeats its name.
    private static func pairs(
        _ members: [Named<JSONTemplate>], _ scope: Scope
    ) throws(EvaluationFailure) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for member in members {
            let value = try member.value.evaluate(in: scope)
            for element in value.array ?? [value] where !element.isNull {
                pairs.append((member.name, element.string ?? element.text))
            }
        }
        return pairs
    }
}
