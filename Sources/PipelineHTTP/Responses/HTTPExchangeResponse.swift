public import HTTPTypes

/// The answer to a request, whatever its status.
public struct HTTPExchangeResponse: Sendable, Equatable {
    /// The status of the last response, after redirects.
    public var status: Int
    /// The headers of the last response.
    public var headers: HTTPFields
    /// Fields that came after the body.
    public var trailers: HTTPFields
    /// The version of HTTP that it came in, such as `HTTP/1.1`; empty when it is not known.
    public var version = ""
    /// The body, if it went to memory.
    public var body: [UInt8]
    /// The first of a body that went to a file, if ``ExchangeOptions/sampleBytes`` asks for it.
    package var sample: [UInt8] = []
    /// The time for which its service takes no requests from anybody, where this response says so; set by who keeps
    /// that.
    package var closing: Duration?
    /// The URL that gave this answer, after redirects.
    public var url: String
    /// Bytes of the request's body that were handed to the network.
    public var bytesSent: Int64
    /// Bytes of the answer's body, as they came over the network.
    public var bytesReceived: Int64
    /// The times when the parts of the exchange were over.
    public var timings: ExchangeTimings
    /// The number of redirects that were followed.
    public var redirects: Int

    /// A response; for transports and tests.
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

/// The times when things happened, in seconds since the start of the last hop; zero for what did not take place.
///
/// As in https://curl.se/libcurl/c/curl_easy_getinfo.html "TIMES".
public struct ExchangeTimings: Sendable, Equatable {
    /// Seconds until the name was resolved.
    public var nameLookup: Double
    /// Seconds until the connection was there.
    public var connect: Double
    /// Seconds until TLS was agreed on; 0 without it.
    public var tls: Double
    /// The time when the whole request, its body included, was handed over.
    public var sent: Double
    /// Seconds until the first byte of the response.
    public var firstByte: Double
    /// Seconds until the end.
    public var total: Double

    /// Seconds since the beginning of the exchange, as libcurl measures them (curl_easy_getinfo(3)).
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

    /// A round trip that counts next to what is moved meanwhile; one within a house takes less.
    package static let farRoundTrip = Duration.milliseconds(2)

    /// The time that a packet takes there and back, as far as a connection that was made has shown it; about zero for
    /// one that was there before.
    package var roundTrip: Duration { .seconds(max(0, connect - nameLookup)) }
}
