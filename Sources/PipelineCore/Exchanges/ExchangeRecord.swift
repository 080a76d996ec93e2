/// One request with its answer as it was sent, kept for people: `logs --curl` and `logs --har`.
///
/// Whoever makes one has redacted every text in it.
package struct ExchangeRecord: Sendable, Hashable {
    package typealias Field = NamedText

    package let step: StepKey
    package let attempt: Int
    package let started: Timestamp
    package let method: String
    package let url: String
    package let headers: [Field]
    /// Nil when the request had no body.
    package let body: RecordedBody?
    /// Nil when no whole answer came.
    package var answer: ServiceResponse?
    /// The reason why there is no answer.
    package var failure: String?
    /// The purpose of the request, where that is not what its step is about; nil for that.
    package var role: String?

    /// The role of a poll.
    package static let poll = "poll"

    /// The response as it came back.
    package struct ServiceResponse: Sendable, Hashable {
        package let status: Int
        /// Such as `HTTP/1.1`; empty when it is not known.
        package let version: String
        package let headers: [Field]
        package let body: RecordedBody
        package let timings: Timings

        package init(
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
    package struct Timings: Sendable, Hashable {
        package let nameLookup: Double
        package let connect: Double
        package let tls: Double
        /// The time when the request was with the network as a whole.
        package let sent: Double
        package let firstByte: Double
        package let total: Double

        package init(
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

    package init(
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
package struct NamedText: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A body as it is kept: the first of a text, or all of a small body that is none.
package struct RecordedBody: Sendable, Hashable {
    /// The most that is kept, in bytes.
    package static let limit = 64 << 10

    package let size: Int64
    /// The media type, as the header field said it.
    package let type: String?
    /// The first of the text; nil for what is none, or went from or to a file.
    package let text: String?
    /// True if the text is not all of the body; nil of a record of before, of which it is not known.
    package let isCut: Bool?
    /// All of an answer that is no text and not too long; nil for others, and where a secret stands in it.
    package let base64: String?
    /// The file that was sent whole.
    package let file: String?

    package init(
        size: Int64, type: String?, text: String? = nil, isCut: Bool? = nil, base64: String? = nil, file: String? = nil
    ) {
        self.size = size
        self.type = type
        self.text = text
        self.isCut = isCut
        self.base64 = base64
        self.file = file
    }

    /// True if what is kept is all of the body, but for the secrets in it.
    package var isWhole: Bool {
        if base64 != nil { return true }
        guard let text else { return size == 0 }
        return isCut.map { !$0 } ?? (Int64(text.utf8.count) >= size)
    }
}

/// The store of exchanges; the last hundred of each stage, or more. Losing one is harmless.
package protocol ExchangeLog: Sendable {
    /// Keeps a record; returns at once.
    func append(_ record: ExchangeRecord, of job: JobID)
    /// Nothing more comes of the job for now: what is still in memory of it is written.
    func flush(_ job: JobID)
}

extension ExchangeLog {
    package func flush(_ job: JobID) {}
}

/// Keeps nothing.
package struct NoExchangeLog: ExchangeLog {
    package init() {}
    package func append(_ record: ExchangeRecord, of job: JobID) {}
}
