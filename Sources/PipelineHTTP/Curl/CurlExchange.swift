import CCurl
import HTTPTypes
import NetworkTasks

/// One exchange on its way, over all its hops.
///
/// `@unchecked Sendable`: made on the caller's thread, then handed through the mailbox to the thread of ``CurlLoop``,
/// which alone touches its variables.
final class CurlExchange: @unchecked Sendable {
    let id: UInt64
    let options: ExchangeOptions
    let completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    let rule: RedirectRule
    /// True if it moves so much that it needs large buffers.
    let isBulk: Bool
    /// The request of the current hop.
    var request: RequestDescription
    var easy: EasyHandle?
    var startedAt: Duration = .zero
    /// The time when the current hop began.
    var hopStartedAt: Duration = .zero
    /// The time into the hop at which the last byte of the body was handed over.
    var sentAfter: Duration?
    /// The time when a byte or a head last moved.
    var lastMove: Duration = .zero
    /// False from a redirect to another origin on: then our certificate stays here, as the other credentials do.
    var showsCertificate = true
    /// Those that were opened for the current hop: one, or one for each address that was tried.
    var sockets: [Int32] = []
    /// The reason why one of them could not be; of interest when none could.
    var socketFailure: ExchangeFailure.Reason?
    /// True when the current hop has a connection over which the request goes.
    var isConnected = false
    /// True when any hop had one.
    var connectionMade = false
    var hasReportedSent = false
    /// True when 1xx answers came.
    var wasInformed = false
    var redirects = 0
    var head: (status: Int, headers: HTTPFields)?
    var parser = ResponseHeadParser()
    var receiver: ResponseReceiver
    var reader: BodyReader
    /// The place up to which the body was read.
    var bodyPosition: Int64 = 0
    var headerList: UnsafeMutablePointer<curl_slist>?
    /// The reason why a callback ended the exchange.
    var stopReason: ExchangeFailure.Reason?
    /// More on it, for people.
    var stopDetail = ""
    var progress = TransferProgress()
    /// The backlog in which it stands when something that it received waits to be written.
    var backlog: WriteBacklog?
    /// The number of exchanges with large buffers that there were when it began, itself among them.
    var sharers = 1
    /// The throttle by which the service's rates leave it room; nil without any.
    var throttle: ServiceThrottle?
    /// The directions in which a rate of the service holds it back.
    var heldDirections: Set<ServiceThrottle.Direction> = []
    /// Since when, and at which number of bytes, a stall is looked for.
    var stallWindow: (start: Duration, moved: Int64)?

    init(
        _ request: RequestDescription, options: ExchangeOptions,
        completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    ) {
        self.id = completion.task.id
        self.request = request
        self.options = options
        self.completion = completion
        self.rule = RedirectRule(options, method: request.method)
        isBulk = if case .file = options.receive { true } else { request.body.length >= 60 << 10 }
        self.receiver = ResponseReceiver(
            options.receive, maximumBodyBytes: options.maximumBodyBytes, sampleBytes: options.sampleBytes)
        self.reader = BodyReader(request.body.segments)
        progress.sendTotal = request.body.length
    }

    deinit {
        releaseResources()
    }

    /// Frees what libcurl no longer uses; files are closed.
    func releaseResources() {
        curl_slist_free_all(headerList)
        headerList = nil
        receiver.finish()
        throttle?.forget(self)
        throttle = nil
        backlog = nil
        reader = BodyReader([])
    }

    /// Called when anything moved.
    func touch() {
        if options.idleTimeout != nil { lastMove = MachineClock.monotonic() }
    }

    /// Tells once that the whole request is with the kernel.
    func reportSent() {
        guard !hasReportedSent else { return }
        hasReportedSent = true
        options.onSent?()
    }

    /// A failure with what is known of this exchange.
    func failure(_ reason: ExchangeFailure.Reason, detail: String = "") -> ExchangeFailure {
        ExchangeFailure(
            reason,
            message: FailureText.message(reason, host: URLParts(request.url)?.authority ?? "", detail: detail),
            connectionMade: connectionMade,
            requestBytesSent: max(progress.sent, easy?.offset(CURLINFO_SIZE_UPLOAD_T) ?? 0),
            requestBodyLength: request.body.isNone ? nil : request.body.length, gotAnswer: head != nil
        )
    }
}
