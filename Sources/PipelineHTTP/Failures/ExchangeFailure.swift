import CCurl

/// An exchange that gave no whole answer; what a retry is decided from.
public struct ExchangeFailure: Error, Sendable, Equatable {
    /// The reason why there is no whole response.
    public var reason: Reason
    /// Plain English, for a person.
    public var message: String
    /// False: nothing of the request can have reached the server.
    public var connectionMade: Bool
    /// Bytes of the body that were handed to the network.
    public var requestBytesSent: Int64
    /// Length of the body as it was sent, which decorators may have changed; nil when none was put together.
    public var requestBodyLength: Int64?
    /// True when the head of the final answer had come.
    public var gotAnswer: Bool

    /// The event in words.
    public enum Reason: Sendable, Equatable {
        case cancelled
        case nameNotResolved
        case connectionRefused
        /// No route, or no connection for another reason.
        case unreachable
        /// A proxy is why there is no connection; with its host and port, empty where they are not known.
        case proxy(String, ProxyFailure)
        case tls(TLSFailure)
        case timedOut(Timeout)
        case connectionReset
        /// The connection ended in order, before the answer did.
        case closedEarly
        /// The answer accepts a body of which the end was never sent: who gave it can't have looked at that, and may be
        /// something on the way. Answers of other statuses may come as early as they like.
        indirect case answeredEarly(HTTPExchangeResponse)
        /// The bytes that came are not HTTP.
        case protocolError
        /// The body is not of the content coding that its head names.
        case undecodable
        /// The body of a success is in a content coding that is not undone here, nor was asked for; with the status.
        case foreignCoding(String, status: Int)
        /// Nothing was sent: the service takes no requests before the wait has passed, or, with nil, what the request is made of
        /// is to be renewed first.
        case held(Duration?)
        /// This machine, or this process, has too little of something that others will give back: descriptors, memory.
        case outOfResources(errno: Int32)
        /// The URL leads to an address that ``ExchangeOptions/reach`` keeps out.
        case addressRefused(String)
        case localRead(errno: Int32, path: String)
        /// A body's file is shorter than it was.
        case sourceChanged(path: String)
        case localWrite(errno: Int32, path: String)
        case bodyTooLarge
        case tooManyRedirects
        /// A redirect that would be followed leads out of http and https; with its `Location`.
        case redirectRefused(String)
        /// A redirect would bring a body that is made from a secret to another origin, which is named.
        case bodyWithheld(String)
        /// The request could not be put together; nothing was sent.
        case invalidRequest(String)
        /// The request could not be put together now, and may be later: what a decorator asks is away. Nothing was sent.
        case notReady(String)
        /// The token endpoint gave no access token, and would not the next time; nothing was sent to the service.
        case tokenRefused(status: Int)
        /// The token endpoint answered that it gives no token now, and how long it wants to be left alone; nil where it does
        /// not say. Nothing was sent to the service.
        case tokenUnavailable(status: Int, retryAfter: Duration?)
        case other(code: Int, text: String)
    }

    /// Which limit ended the exchange.
    public enum Timeout: Sendable, Equatable {
        case connect, total, idle
        /// Less than the rate of the exchange's ``StallRule`` for its time.
        case stall
    }

    /// The failure of a proxy that stands before the service.
    public enum ProxyFailure: Sendable, Equatable {
        case nameNotResolved, connectionRefused, unreachable
        /// It made no connection to the service, and gave no status.
        case noPassage
        /// It answered CONNECT with this status.
        case refused(status: Int)
        /// Its URL has a scheme by which no proxy is reached.
        case unsupported

        /// True when the same may fare better later.
        fileprivate var isPassing: Bool {
            switch self {
            case .nameNotResolved, .connectionRefused, .unreachable, .noPassage: true
            case .refused(let status): status >= 500 || status == 408 || status == 429
            case .unsupported: false
            }
        }
    }

    /// The reason why there is no TLS connection.
    public enum TLSFailure: Sendable, Equatable {
        case expired, notYetValid, wrongHost, unknownAuthority, pinMismatch
        /// Keys are pinned, and the URL, perhaps that of a redirect, is one of plain http.
        case pinWithoutTLS
        /// The other side answers with something else than TLS, mostly plain HTTP.
        case notSpoken
        /// A local file (authorities, certificate or key) can't be used.
        case localFile
        case other
    }

    /// Says why there is no whole response, and how far the exchange came: whether a repetition is safe depends on
    /// that.
    public init(
        _ reason: Reason,
        message: String,
        connectionMade: Bool = false,
        requestBytesSent: Int64 = 0,
        requestBodyLength: Int64? = nil,
        gotAnswer: Bool = false
    ) {
        self.reason = reason
        self.message = message
        self.connectionMade = connectionMade
        self.requestBytesSent = requestBytesSent
        self.requestBodyLength = requestBodyLength
        self.gotAnswer = gotAnswer
    }

    /// A request that can't be sent at all, or not now.
    public init(_ failure: RequestFailure) {
        self.init(
            failure.isRetryable ? .notReady(failure.message) : .invalidRequest(failure.message),
            message: failure.message)
    }

    /// An exchange that was called off.
    public static func cancelled(connectionMade: Bool = false) -> ExchangeFailure {
        ExchangeFailure(.cancelled, message: "The request was cancelled.", connectionMade: connectionMade)
    }

    /// The code of ``Reason/outOfResources(errno:)`` on a machine without libcurl; `errno(3)` has it.
    public static var noLibrary: Int32 { ccurl_missing() }

    /// True when the same request may fare better later; whether it may be sent again is the caller's to know.
    public var isRetryable: Bool {
        switch reason {
        case .nameNotResolved, .connectionRefused, .unreachable, .timedOut, .connectionReset, .closedEarly,
            .answeredEarly:
            true
        case .proxy(_, let failure): failure.isPassing
        case .tls(let failure): failure == .other || failure == .notSpoken
        case .outOfResources, .held, .notReady, .tokenUnavailable: true
        case .localRead(let code, _), .localWrite(let code, _): DescriptorBudget.isPassing(code)
        case .cancelled, .protocolError, .undecodable, .foreignCoding, .sourceChanged, .bodyTooLarge, .tooManyRedirects,
            .redirectRefused, .bodyWithheld, .invalidRequest, .tokenRefused, .addressRefused, .other:
            false
        }
    }
}
