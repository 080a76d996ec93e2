import PipelineCore
import PipelineHTTP

extension Network {
    /// Sends a request whose answer matters only by its status.
    func post(
        _ request: RequestDescription, decorators: [any RequestDecorator] = [], timeout: Duration
    ) async throws(NotificationFailure) {
        var options = ExchangeOptions(totalTimeout: timeout, maximumBodyBytes: 64 << 10)
        options.redirects = 0
        let response: HTTPExchangeResponse
        do throws(ExchangeFailure) {
            response = try await exchange(request, decorators: decorators, options: options)
        } catch {
            throw NotificationFailure(error.message, isRetryable: error.isRetryable || error.reason == .bodyTooLarge)
        }
        guard !response.isSuccess else { return }
        let server =
            (URLParts(request.url)?.authority.unicodeScalars.split(separator: "@").last).map { String($0) }
            ?? "the server"
        // Whoever keeps it takes secrets out and cuts it then: half of one could not be told from other text.
        let start = String(decoding: response.body.prefix(4096), as: UTF8.self)
        throw NotificationFailure(
            "\(server) answered \(response.status)" + (start.isEmpty ? "" : ": \(start)"),
            hint: response.status == 410 ? "the receiver wants no more notifications" : nil,
            isRetryable: [408, 425, 429].contains(response.status) || response.status >= 500)
    }
}
