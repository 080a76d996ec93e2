/// One request with its answer as it was sent, kept for people: `logs --curl` and `logs --har`.
///
/// Whoever makes one has redacted every text in it.
public struct ExchangeRecord: Sendable, Hashable {
    public typealias Field = NamedText

    public let step: StepKey
    public let attempt: Int
    public let started: Timestamp
    public let method: String
    public let url: String
    public let headers: [Field]
    /// Nil when the request had no body.
    public let body: RecordedBody?
    /// Nil when no whole answer came.
    public var answer: ServiceResponse?
    /// Why there is no answer.
    public var failure: String?
    /// What the request was for, where that is not what its step is about; nil for that.
    public var role: String?

    /// The role of a poll.
    public static let poll = "poll"

    /// What came back.
    public struct ServiceResponse: Sendable, Hashable {
        public let status: Int
        /// Such as `HTTP/1.1`; empty when it is not known.
        public let version: String
        public let headers: [Field]
        public let body: RecordedBody
        public let timings: Timings

        public init(
            status: Int, version: String = "", headers: [Field], body: RecordedBody, timings: Timings
        ) {
            self.status = status
            self.version = version
            self.headers = headers
            self.body = body
            self.timings = timings
        }
    }

    /// Seconds since the start, each counting all before it; zero for what did not take place
    /// (https://curl.se/libcurl/c/curl_easy_getinfo.html "TIMES").
    public struct Timings: Sendable, Hashable {
        public let nameLookup: Double
        public let connect: Double
        public let tls: Double
        /// When the request was with the network as a whole.
        public let sent: Double
        public let firstByte: Double
        public let total: Double

        public init(
            nameLookup: Double, connect: Double, tls: Double, sent: Double, firstByte: Double, total: Double
        ) {
            self.nameLookup = nameLookup
            self.connect = connect
            self.tls = tls
            self.sent = sent
            self.firstByte = firstByte
            self.total = total
        }
    }

    public init(
        step: StepKey, attempt: Int, started: Timestamp, method: String, url: String, headers: [Field],
        body: RecordedBody?
    ) {
        self.step = step
        self.attempt = attempt
        self.started = started
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A name with a text, such as a header field.
public struct NamedText: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A body as it is kept: the first of a text, or all of a small body that is none.
public struct RecordedBody: Sendable, Hashable {
    /// The most that is kept, in bytes.
    public static let limit = 64 << 10

    public let size: Int64
    /// The media type, as the header field said it.
    public let type: String?
    /// The first of the text; nil for what is none, or went from or to a file.
    public let text: String?
    /// All of an answer that is no text and not too long; nil for others, and where a secret stands in it.
    public let base64: String?
    /// The file that was sent whole.
    public let file: String?

    public init(size: Int64, type: String?, text: String? = nil, base64: String? = nil, file: String? = nil) {
        self.size = size
        self.type = type
        self.text = text
        self.base64 = base64
        self.file = file
    }

    /// Whether what is kept is all of the body.
    public var isWhole: Bool { base64 != nil || text.map { Int64($0.utf8.count) >= size } ?? (size == 0) }
}

/// Where exchanges are kept; the last hundred of each stage, or more. Losing one is harmless.
public protocol ExchangeLog: Sendable {
    /// Keeps a record; returns at once.
    func append(_ record: ExchangeRecord, of job: JobID)
    /// Nothing more comes of the job for now: what is still in memory of it is written.
    func flush(_ job: JobID)
}

extension ExchangeLog {
    public func flush(_ job: JobID) {}
}

/// Keeps nothing.
public struct NoExchangeLog: ExchangeLog {
    public init() {}
    public func append(_ record: ExchangeRecord, of job: JobID) {}
}
