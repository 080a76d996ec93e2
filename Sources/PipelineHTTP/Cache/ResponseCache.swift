import HTTPTypes

/// Stores responses between requests and between processes. What it loses is asked for again: it need not be durable, but
/// a response is there whole or not at all.
public protocol ResponseCache: Sendable {
    /// The response that was stored last for the key; nil when there is none.
    /// - Parameter key: lower-case hex.
    func response(for key: String) async -> CachedResponse?
    /// Stores a response in the place of an earlier one.
    func store(_ response: CachedResponse, for key: String) async
}

/// A response as it is stored. It holds no request and so no credentials.
public struct CachedResponse: Sendable, Equatable {
    /// The status of the response.
    public var status: Int
    /// Its headers, in the order in which they came.
    public var fields: [Field]
    /// The URL that it came from, after redirects.
    public var url: String
    /// Its body, decoded.
    public var body: [UInt8]
    /// The time when it came, in seconds since 1 January 1970 UTC.
    public var time: Double
    /// The request's fields that the service chose the response by (`Vary`), and a digest of what they said.
    public var variant: Variant

    /// A field of the head.
    public struct Field: Sendable, Equatable {
        /// The name, as it came.
        public let name: String
        /// The value, as it came.
        public let value: String

        /// A header of a response.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The request fields that a response depends on besides its URL (RFC 9111, section 4.1).
    public struct Variant: Sendable, Equatable {
        /// The headers of requests that the response depends on: those that `Vary` names (RFC 9111, section 4.1).
        public var names: [String]
        /// A digest of their values in the request that it was the response to.
        public var digest: String

        /// A variant by the names of its headers and the digest of their values.
        public init(names: [String], digest: String) {
            self.names = names
            self.digest = digest
        }
    }

    /// A response to be stored; `time` is when it came, in seconds since 1970.
    public init(status: Int, fields: [Field], url: String, body: [UInt8], time: Double, variant: Variant) {
        self.status = status
        self.fields = fields
        self.url = url
        self.body = body
        self.time = time
        self.variant = variant
    }
}

extension CachedResponse {
    /// The first field of the name.
    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The time for which it counts as fresh, as the service says (RFC 9111, section 4.2.1); zero when it says nothing.
    var lifetime: Double {
        let directives = CacheDirectives(field("Cache-Control"))
        if directives.has("no-cache") { return 0 }
        if let seconds = directives.seconds("max-age") { return seconds }
        guard let expires = field("Expires").flatMap(HTTPDate.seconds) else { return 0 }
        return max(0, expires - (field("Date").flatMap(HTTPDate.seconds) ?? time))
    }

    /// Its age in seconds at a time (RFC 9111, section 4.2.3, without the corrections for slow networks).
    func age(at now: Double) -> Double {
        let stated = field("Age").flatMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? Double($0) : nil } ?? 0
        // A hundred years: a service may say any number.
        return max(0, now - time) + min(stated, 36_525 * 86_400)
    }

    /// The answer as if it had just come, with its age.
    func response(at now: Double) -> HTTPExchangeResponse {
        var headers = HTTPFields()
        for field in fields where field.name.lowercased() != "age" {
            if let name = HTTPField.Name(field.name) { headers.append(HTTPField(name: name, value: field.value)) }
        }
        headers[.age] = String(Int(age(at: now)))
        return HTTPExchangeResponse(status: status, headers: headers, body: body, url: url)
    }
}

/// The directives of a `Cache-Control` field (RFC 9111, section 5.2).
struct CacheDirectives {
    private let values: [String: String]

    init(_ field: String?) {
        let pairs = (field ?? "").split(separator: ",").map { directive -> (String, String) in
            let parts = directive.split(separator: "=", maxSplits: 1).map {
                $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
            }
            return (parts.first?.lowercased() ?? "", parts.count > 1 ? parts[1] : "")
        }
        values = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func seconds(_ name: String) -> Double? { values[name].flatMap(Double.init) }
}
