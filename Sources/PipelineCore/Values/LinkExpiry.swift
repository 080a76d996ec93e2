package import JSONPath

/// Until when a link that was signed beforehand is good, as far as it says so itself.
package enum LinkExpiry {
    /// The time by the query of a URL: `X-Amz-Date` with `X-Amz-Expires` (AWS Signature 4, "Authenticating Requests:
    /// Using Query Parameters"), `X-Goog-…` likewise, `Expires` in seconds since 1970 (CloudFront, Signature 2), `se`
    /// in RFC 3339 (Azure, "Create a service SAS"). Nil for any other text.
    package static func time(of url: String) -> Timestamp? {
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), let start = url.firstIndex(of: "?") else {
            return nil
        }
        var values: [String: String] = [:]
        let query = url[url.index(after: start)...].prefix { $0 != "#" }
        for pair in query.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { values[sides[0].lowercased()] = String(sides[1]).replacing("%3A", with: ":") }
        }
        for scheme in ["x-amz", "x-goog"] {
            if let date = values["\(scheme)-date"].flatMap(basic),
                let seconds = values["\(scheme)-expires"].flatMap(Int64.init),
                (0...31_536_000).contains(seconds)
            {
                return date + .seconds(seconds)
            }
        }
        if let text = values["expires"], let seconds = Int64(text), (1_000_000_000...9_999_999_999).contains(seconds) {
            return Timestamp(milliseconds: seconds * 1000)
        }
        // Without a signature next to it `se` could be anything.
        return values["sig"] == nil ? nil : values["se"].flatMap { try? Timestamp.parse($0) }
    }

    /// The earliest time by the links among a value's texts, however deep, that is later than `moment`.
    package static func earliest(in value: JSON, after moment: Timestamp) -> Timestamp? {
        switch value {
        case .string(let text): time(of: text).flatMap { $0 > moment ? $0 : nil }
        case .array(let elements): elements.lazy.compactMap { earliest(in: $0, after: moment) }.min()
        case .object(let members): members.lazy.compactMap { earliest(in: $0.value, after: moment) }.min()
        case .null, .bool, .number: nil
        }
    }

    /// ISO 8601's basic form: 20261120T120000Z.
    private static func basic(_ text: String) -> Timestamp? {
        let letters = Array(text)
        guard letters.count == 16, letters[8] == "T", letters[15] == "Z" else { return nil }
        func part(_ range: Range<Int>) -> String { String(letters[range]) }
        return try? Timestamp.parse(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z")
    }
}
