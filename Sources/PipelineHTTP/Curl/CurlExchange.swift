import CCurl
import HTTPTypes
import NetworkTasks

/// One exchange on its way, over all its hops.
///
/// `@unchecked Sendable`: made on the caller's thread, then handed through the mailbox to the thread of ``CurlLoop``,
/// which alone touches its variables.
final class CurlExchange: @unchecked Sendable {
    let options: ExchangeOptions
    let completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    let rule: RedirectRule
    /// The request that is on its way.
    var hop: CurlHop
    var easy: EasyHandle?
    var startedAt: Duration = .zero
    var progress = TransferProgress()
    var facts = Facts()
    var liveness = ExchangeLiveness()
    var allotment: Allotment
    /// The reason why a callback ended the exchange.
    var stop: Stop?

    /// The facts of all its hops.
    struct Facts {
        /// True if there was a connection.
        var connectionMade = false
        var hasReportedSent = false
        /// True if 1xx responses came.
        var wasInformed = false
        var redirects = 0
    }

    /// The part that it has of what exchanges share.
    struct Allotment {
        /// True if it moves so much that it needs large buffers.
        let isBulk: Bool
        /// The number of exchanges with large buffers when it began, itself among them.
        var sharers = 1
        /// The backlog in which it stands if something that it received waits to be written.
        var backlog: WriteBacklog?
        /// The throttle by which the service's rates leave it room; nil without any.
        var throttle: ServiceThrottle?
        /// The directions in which a rate of the service holds it back.
        var heldDirections: Set<ServiceThrottle.Direction> = []
    }

    /// The reason why it was ended, and more on it for people.
    struct Stop {
        var reason: ExchangeFailure.Reason
        var detail = ""
    }

    var id: UInt64 { completion.task.id }

    init(
        _ request: RequestDescription, options: ExchangeOptions,
        completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    ) {
        self.options = options
        self.completion = completion
        rule = RedirectRule(options, method: request.method)
        hop = CurlHop(request, options)
        let isFile = if case .file = options.receive { true } else { false }
        allotment = Allotment(isBulk: isFile || request.body.length >= 60 << 10)
        progress.sendTotal = request.body.length
    }

    deinit {
        releaseResources()
    }

    /// Frees what libcurl no longer uses; files are closed.
    func releaseResources() {
        hop.headerList = nil
        hop.receiver.finish()
        hop.reader.finish()
        allotment.throttle?.forget(self)
        allotment.throttle = nil
        allotment.backlog = nil
    }

    /// Called when anything moved.
    func touch() {
        if options.idleTimeout != nil { liveness.lastMove = MachineClock.monotonic() }
    }

    /// Tells once that the whole request is with the kernel.
    func reportSent() {
        guard !facts.hasReportedSent else { return }
        facts.hasReportedSent = true
        options.onSent?()
    }

    /// A failure with what is known of this exchange.
    func failure(_ reason: ExchangeFailure.Reason, detail: String = "") -> ExchangeFailure {
        let request = hop.request
        return ExchangeFailure(
            reason,
            message: FailureText.message(reason, host: URLParts(request.url)?.authority ?? "", detail: detail),
            connectionMade: facts.connectionMade,
            requestBytesSent: max(progress.sent, easy?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0),
            requestBodyLength: request.body.isNone ? nil : request.body.length, gotAnswer: hop.response.final != nil
        )
    }
}
