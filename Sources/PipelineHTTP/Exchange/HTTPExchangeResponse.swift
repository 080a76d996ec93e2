public import HTTPTypes

/// The answer to a request, whatever its status.
public struct HTTPExchangeResponse: Sendable, Equatable {
    public var status: Int
    public var headers: HTTPFields
    /// Fields that came after the body.
    public var trailers: HTTPFields
    /// The version of HTTP that it came in, such as `HTTP/1.1`; empty when it is not known.
    public var version = ""
    /// The body, if it went to memory.
    public var body: [UInt8]
    /// The first of a body that went to a file, if ``ExchangeOptions/sampleBytes`` asks for it.
    public var sample: [UInt8] = []
    /// How long its service takes no requests from anybody, where this response says so; set by who keeps that.
    public var closing: Duration?
    /// The URL that gave this answer, after redirects.
    public var url: String
    /// Bytes of the request's body that were handed to the network.
    public var bytesSent: Int64
    /// Bytes of the answer's body, as they came over the network.
    public var bytesReceived: Int64
    public var timings: ExchangeTimings
    /// How many redirects were followed.
    public var redirects: Int

    public init(
        status: Int,
        headers: HTTPFields = [:],
        trailers: HTTPFields = [:],
        body: [UInt8] = [],
        url: String = "",
        bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0,
        timings: ExchangeTimings = ExchangeTimings(),
        redirects: Int = 0
    ) {
        self.status = status
        self.headers = headers
        self.trailers = trailers
        self.body = body
        self.url = url
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.timings = timings
        self.redirects = redirects
    }

    /// True for 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }

    /// The first values of all fields of that name, joined as RFC 9110 §5.3 says.
    public func header(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }
}

/// When things happened, in seconds since the start of the last hop; zero for what did not take place.
///
/// As in https://curl.se/libcurl/c/curl_easy_getinfo.html "TIMES".
public struct ExchangeTimings: Sendable, Equatable {
    public var nameLookup: Double
    public var connect: Double
    public var tls: Double
    /// When the whole request, its body included, was handed over.
    public var sent: Double
    public var firstByte: Double
    public var total: Double

    public init(
        nameLookup: Double = 0, connect: Double = 0, tls: Double = 0, sent: Double = 0, firstByte: Double = 0,
        total: Double = 0
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.sent = sent
        self.firstByte = firstByte
        self.total = total
    }

    /// A round trip that counts beside what is moved meanwhile; one within a house takes less.
    public static let farRoundTrip = Duration.milliseconds(2)

    /// How long a packet takes there and back, as far as a connection that was made has shown it; about zero for one that
    /// was there before.
    public var roundTrip: Duration { .seconds(max(0, connect - nameLookup)) }
}
