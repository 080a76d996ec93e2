import HTTPTypes

/// The pieces of a request in the one spelling that both sides of a signature agree on.
enum AWSCanonical {
    /// `20150830T123600Z`
    static func time(_ sinceEpoch: Duration) -> String {
        let (day, seconds) = Int(sinceEpoch.components.seconds).quotientAndRemainder(dividingBy: 86_400)
        let date = CivilDate(daysSince1970: day)
        let time = padded(seconds / 3600, 2) + padded(seconds / 60 % 60, 2) + padded(seconds % 60, 2)
        return "\(padded(date.year, 4))\(padded(date.month, 2))\(padded(date.day, 2))T\(time)Z"
    }

    /// Names and values of a query, decoded; a name without `=` has an empty value.
    static func parameters(of query: String?) -> [(name: String, value: String)] {
        PercentEncoding.pairs((query ?? "")[...]).map { (encoded($0.name), encoded($0.value)) }
    }

    /// The query, sorted by name and value.
    static func text(of parameters: [(name: String, value: String)]) -> String {
        parameters.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// The path as S3 has it: encoded once. All others normalise it and encode what is sent once more.
    static func path(_ path: String, isStorage: Bool) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        if isStorage { return path.isEmpty ? "/" : segments.map { encoded($0) }.joined(separator: "/") }
        var kept: [Substring] = []
        for segment in segments where !segment.isEmpty && segment != "." {
            if segment != ".." { kept.append(segment) } else if !kept.isEmpty { kept.removeLast() }
        }
        let isFolder = path.hasSuffix("/") || path.hasSuffix("/.") || path.hasSuffix("/..")
        let end = isFolder && !kept.isEmpty ? "/" : ""
        return "/" + kept.map { PercentEncoding.component($0) }.joined(separator: "/") + end
    }

    /// The fields that are signed, in lower case, sorted, each once.
    static func fields(of headers: HTTPFields, host: String) -> [(name: String, value: String)] {
        var fields: [String: [String]] = ["host": [host]]
        for field in headers where !changed.contains(field.name.canonicalName) {
            fields[field.name.canonicalName, default: []].append(collapsed(field.value))
        }
        return fields.map { ($0.key, $0.value.joined(separator: ",")) }.sorted { $0.name < $1.name }
    }

    /// The headers that the transport or somebody on the way sets or changes.
    private static let changed: Set<String> = [
        "authorization", "host", "user-agent", "content-length", "transfer-encoding", "connection", "expect", "te",
        "accept-encoding", "x-amzn-trace-id", "traceparent",
    ]

    /// Spaces in a row become one.
    private static func collapsed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    /// Encoded as section "UriEncode" says, whatever part of it was encoded before.
    private static func encoded(_ text: some StringProtocol) -> String {
        PercentEncoding.component(PercentEncoding.decoded(text))
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
