import PipelineCore
import PipelineHTTP
import Synchronization

/// The head of an answer of which the status matters, and the start of its body.
private struct HeardAnswer: Sendable {
    /// What a person may read of an answer that is no success.
    static let mostKept = 4096
    /// The connection of an answer that is longer is closed.
    static let mostRead = 64 << 10

    let status: Int
    private(set) var start: [UInt8] = []
    private var count = 0

    init(status: Int) { self.status = status }

    mutating func take(_ bytes: UnsafeRawBufferPointer) -> StreamDecision {
        start.append(contentsOf: bytes.prefix(Self.mostKept - start.count))
        count += bytes.count
        return count > Self.mostRead ? .stop : .more
    }
}

extension Network {
    /// Sends a request whose answer matters only by its status, whatever comes behind, and whether or not that comes whole.
    func post(
        _ request: RequestDescription, decorators: [any RequestDecorator] = [], timeout: Duration
    ) async throws(NotificationFailure) {
        let heard = Mutex<HeardAnswer?>(nil)
        // On a kept connection that turns out to be gone libcurl sends it again by itself: a person would be told twice.
        var options = ExchangeOptions(totalTimeout: timeout, freshConnection: true)
        options.redirects = 0
        options.receive = .stream(
            StreamSink(
                decide: { head in
                    heard.withLock { $0 = HeardAnswer(status: head.status.code) }
                    return true
                },
                onBytes: { bytes in heard.withLock { $0?.take(bytes) ?? .more } }))
        do throws(ExchangeFailure) {
            _ = try await exchange(request, decorators: decorators, options: options)
        } catch {
            guard error.gotAnswer, heard.withLock({ $0 != nil }) else {
                // Whoever ends while a receiver takes its time leaves it to the next: the id tells repetitions.
                let isCut = error.reason == .cancelled
                throw NotificationFailure(
                    isCut ? "the receiver had not answered yet" : error.message, isRetryable: isCut || error.isRetryable
                )
            }
        }
        guard let answer = heard.withLock(\.self), !(200..<300).contains(answer.status) else { return }
        let server =
            (URLParts(request.url)?.authority.unicodeScalars.split(separator: "@").last).map { String($0) }
            ?? "the server"
        // Whoever keeps it takes secrets out and cuts it then: half of one could not be told from other text.
        let start = String(decoding: answer.start, as: UTF8.self)
        throw NotificationFailure(
            "\(server) answered \(answer.status)" + (start.isEmpty ? "" : ": \(start)"),
            hint: answer.status == 410 ? "the receiver wants no more notifications" : nil,
            isRetryable: [408, 425, 429].contains(answer.status) || answer.status >= 500)
    }
}
