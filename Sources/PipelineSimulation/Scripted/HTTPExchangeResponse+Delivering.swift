import PipelineHTTP

extension HTTPExchangeResponse {
    /// The answer as a transport hands it over: what the options do with a body is done, and its counts are those of the
    /// request.
    func delivered(
        for request: RequestDescription, _ options: ExchangeOptions
    ) throws(ExchangeFailure) -> HTTPExchangeResponse {
        let receiver = ResponseReceiver(options)
        if receiver.begin(status: status, headers: headers) { _ = body.withUnsafeBytes { receiver.receive($0) } }
        receiver.finish()
        if let reason = receiver.failure {
            throw ExchangeFailure(
                reason, message: "The answer could not be kept.", connectionMade: true,
                requestBytesSent: request.body.length, gotAnswer: true)
        }
        var delivered = self
        delivered.body = receiver.body
        if delivered.url.isEmpty { delivered.url = request.url }
        delivered.bytesSent = request.body.length
        delivered.bytesReceived = Int64(body.count)
        return delivered
    }
}
