public import HTTPTypes
public import NetworkTasks

/// The settings by which one exchange is carried out.
public struct ExchangeOptions: Sendable {
    /// Ends the exchange when it takes longer, whatever moves. Nil: no limit.
    public var totalTimeout: Duration?
    /// Ends the exchange when there is no connection, TLS included, after this time.
    public var connectTimeout: Duration?
    /// Ends the exchange when no byte moved for this time, in either direction, once there is a connection.
    public var idleTimeout: Duration?
    /// The number of redirects to follow; nil for 10 with GET and HEAD and 0 with the rest. With 0 a redirect is an
    /// answer.
    public var redirects: Int?
    /// Lets credentials follow a redirect to another origin.
    public var redirectKeepsCredentials: Bool
    /// Sends on a new connection that is closed afterwards.
    ///
    /// libcurl silently sends a request again, POST too, when a kept connection turns out to be reset before a byte of
    /// an answer came; on a new connection it never does. Whatever must not be sent twice needs this
    /// (https://curl.se/libcurl/c/CURLOPT_FRESH_CONNECT.html).
    public var freshConnection: Bool
    /// The largest body kept in memory; a longer one fails as `bodyTooLarge`.
    public var maximumBodyBytes: Int
    /// Asks for a body that is kept in memory in `gzip` or `deflate` (RFC 9110, section 12.5.3); otherwise for `identity`,
    /// as for one that goes to a file. What comes is decoded in any case, to its end, and bounded by
    /// ``maximumBodyBytes`` as decoded.
    public var acceptsCodings: Bool
    /// The sink to which the body of the response goes.
    public var receive: ResponseSink
    /// Ends a transfer that is slower than this, so that another try can go on; nil for no limit.
    public var stall: StallRule?
    /// The limits of what the service may be asked at a time, shared with all exchanges that name the same one.
    public var limits: ServiceLimits?
    /// The turn at the service that was taken before; nil to wait for one.
    public var turn: ServiceTurn?
    /// Bytes per second, nil for no limit. While sending is held back, answers (104 too) are read late.
    public var maximumSendRate: Int64?
    /// Bytes per second, nil for no limit.
    public var maximumReceiveRate: Int64?
    /// Called for every 1xx answer, as it arrives, with its status and fields, on the transport's thread.
    public var onInformational: (@Sendable (Int, HTTPFields) -> Void)?
    /// Called when bytes moved, on the transport's thread: it must be quick.
    public var onProgress: (@Sendable (TransferProgress) -> Void)?
    /// Sees each piece of a body that is read from files as it is read for sending, with its place in the body, on the
    /// transport's thread. Pieces come again when libcurl goes back to the start.
    public var onBody: (@Sendable (UnsafeRawBufferPointer, Int64) -> Void)?
    /// Called once, when the whole request, body included, has been handed to the kernel; on the transport's thread.
    package var onSent: (@Sendable () -> Void)?
    /// Called when a connection that is new stands, with how long one round trip over it took; on the transport's thread.
    package var onConnected: (@Sendable (Duration) -> Void)?
    /// Asked when the connection stands, just before the first byte goes out, on the transport's thread: it must be
    /// quick. False holds the request back: the exchange ends as cancelled, and nothing of it was sent.
    package var mayBegin: (@Sendable () -> Bool)?
    /// Called with an access token that is put into the request, and with what it is asked for by, before these are sent:
    /// whoever shows exchanges hides them.
    package var onToken: (@Sendable (String) -> Void)?
    /// Called when the exchange needs a round trip of its own for credentials: a token has to be fetched, at first or
    /// after the service refused the one there was.
    package var onAuthentication: (@Sendable () -> Void)?
    /// The origin of the request that a token is asked for.
    var requestOrigin: String?
    /// The number of bytes of a body that goes to a file that are kept in memory too, for records of exchanges.
    package var sampleBytes = 0
    /// Called with the request as the decorators left it, before anything is sent.
    package var onRequest: (@Sendable (RequestDescription) -> Void)?
    /// The addresses that it may connect to.
    public var reach = NetworkReach.any
    /// The rules by which the service's certificate is checked, and the certificate of the client.
    public var tls: TLSOptions
    /// URL of a proxy; nil for what the environment names (`https_proxy`, `no_proxy` …), empty for none.
    public var proxy: String?
    /// Keeps to HTTP/1.1 where HTTP/2 would be negotiated over TLS.
    public var avoidsHTTP2: Bool

    /// Options of one exchange; what is nil has no limit. Closures are called on the transport's thread and must not
    /// block.
    public init(
        totalTimeout: Duration? = nil,
        connectTimeout: Duration? = .seconds(30),
        idleTimeout: Duration? = nil,
        stall: StallRule? = nil,
        limits: ServiceLimits? = nil,
        redirects: Int? = nil,
        redirectKeepsCredentials: Bool = false,
        freshConnection: Bool = false,
        maximumBodyBytes: Int = 64 << 20,
        acceptsCodings: Bool = true,
        receive: ResponseSink = .memory,
        maximumSendRate: Int64? = nil,
        maximumReceiveRate: Int64? = nil,
        onInformational: (@Sendable (Int, HTTPFields) -> Void)? = nil,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        onBody: (@Sendable (UnsafeRawBufferPointer, Int64) -> Void)? = nil,
        onSent: (@Sendable () -> Void)? = nil,
        mayBegin: (@Sendable () -> Bool)? = nil,
        tls: TLSOptions = TLSOptions(),
        proxy: String? = nil,
        avoidsHTTP2: Bool = false
    ) {
        self.totalTimeout = totalTimeout
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.stall = stall
        self.limits = limits
        self.redirects = redirects
        self.redirectKeepsCredentials = redirectKeepsCredentials
        self.freshConnection = freshConnection
        self.maximumBodyBytes = maximumBodyBytes
        self.acceptsCodings = acceptsCodings
        self.receive = receive
        self.maximumSendRate = maximumSendRate
        self.maximumReceiveRate = maximumReceiveRate
        self.onInformational = onInformational
        self.onProgress = onProgress
        self.onBody = onBody
        self.onSent = onSent
        self.mayBegin = mayBegin
        self.tls = tls
        self.proxy = proxy
        self.avoidsHTTP2 = avoidsHTTP2
    }
}

extension ExchangeOptions {
    /// The time for which nothing may move of a body whose service has answered and wants no more of it, as it seems: a
    /// tenth of the limit on silence, and five seconds at most.
    var patienceAfterAnswer: Duration? { idleTimeout.map { min(Duration.seconds(5), $0 / 10) } }
}
