import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// What metrics call the service.
    var label: String { service?.name ?? MetricNames.none }

    /// Measures one exchange: how long it took, and the bytes of its bodies.
    func measure<Checkpoint>(
        _ result: Result<HTTPExchangeResponse, ExchangeFailure>, _ record: ExchangeRecord,
        in context: StageContext<Checkpoint>
    ) {
        var measured = Measurements()
        let (seconds, status, sent, received): (Double, String, Int64, Int64)
        switch result {
        case .success(let response):
            (seconds, status) = (response.timings.total, "\(response.status / 100)xx")
            (sent, received) = (response.bytesSent, max(response.bytesReceived, Int64(response.body.count)))
        case .failure(let failure):
            (seconds, status) = ((context.now - record.started).seconds, "none")
            (sent, received) = (failure.requestBytesSent, 0)
        }
        measured.observe(.requestDuration, [label, Self.methodLabel(record.method), status], seconds)
        measured.count(.transferredBytes, [label, "sent"], by: Double(sent))
        measured.count(.transferredBytes, [label, "received"], by: Double(received))
        context.measure(measured)
    }

    /// Counts a poll that is sent: `single`, or as a `list` for many jobs.
    func countPoll<Checkpoint>(_ form: String, in context: StageContext<Checkpoint>) {
        var measured = Measurements()
        measured.count(.polls, [label, form])
        context.measure(measured)
    }

    /// The methods of RFC 9110, section 9, and RFC 5789; a document may name any other.
    private static func methodLabel(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].contains(method) ? method : MetricNames.other
    }
}
