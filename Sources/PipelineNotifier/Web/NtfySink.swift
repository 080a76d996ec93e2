import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A message to the subscribers of an ntfy topic (https://docs.ntfy.sh/publish/#publish-as-json): as JSON, since header
/// fields could not hold every title.
struct NtfySink: NotificationSink {
    let network: Network
    /// The server.
    let url: String
    let topic: String
    let priority: Int?

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        var message: JSONObject = [
            "topic": .string(topic), "title": .string(notification.title),
            "message": .string("job \(notification.job), \(notification.time)"),
            "tags": .array([.string(tag(of: notification.event))]),
        ]
        if let priority { message["priority"] = .number(JSONNumber(priority)) }
        var request = RequestDescription(method: .post, url: url, body: .text(JSON.object(message).text))
        request.headers[.contentType] = "application/json"
        try await network.post(request, timeout: .seconds(30))
    }

    /// Names of emoji that ntfy shows before the title.
    private func tag(of event: NotifyDefinition.Event) -> String {
        switch event {
        case .succeeded: "white_check_mark"
        case .failed: "x"
        case .unknown: "question"
        case .late, .deferred: "hourglass"
        case .started, .estimated: "alarm_clock"
        }
    }
}
