/// An absolute `http` or `https` URL cut at its delimiters (RFC 3986 §3), each part as it was written.
package struct URLParts: Sendable, Equatable {
    /// In lower case.
    package let scheme: String
    /// Host and port, with `user:password@` if the URL has that.
    package let authority: String
    /// Empty or with a leading slash.
    package let path: String
    /// Without its question mark; nil without one.
    package let query: String?

    /// Nil when it is no absolute `http` or `https` URL.
    package init?(_ url: String) {
        // By bytes in a row: it is cut several times for each request, and every delimiter is ASCII.
        var url = url
        guard let parts = url.withUTF8({ URLParts(bytes: $0) }) else { return nil }
        self = parts
    }

    private init?(bytes: UnsafeBufferPointer<UInt8>) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var rest = bytes[(colon + 3)...]
        if let fragment = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<fragment] }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let path = rest[..<mark].firstIndex(of: UInt8(ascii: "/")) ?? mark
        self.scheme = scheme
        authority = String(decoding: rest[..<path], as: UTF8.self)
        self.path = String(decoding: rest[path..<mark], as: UTF8.self)
        query = mark == rest.endIndex ? nil : String(decoding: rest[(mark + 1)...], as: UTF8.self)
    }

    /// Scheme, host and port (RFC 6454), with the port always written out and no user.
    package var origin: String {
        var authority = authority
        let (host, hasPort) = authority.withUTF8 { bytes in
            let host = bytes[(bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...]
            return (String(decoding: host, as: UTF8.self).lowercased(), Self.hasPort(host))
        }
        return scheme + "://" + host + (hasPort ? "" : scheme == "https" ? ":443" : ":80")
    }

    static func haveSameOrigin(_ first: String, _ second: String) -> Bool {
        URLParts(first)?.origin == URLParts(second)?.origin
    }

    /// The URL without `user:password@`, and these decoded; nil when it holds none.
    package static func withoutUser(_ url: String) -> (url: String, user: String, password: String)? {
        guard url.utf8.contains(UInt8(ascii: "@")), let parts = URLParts(url), let mark = user(of: parts.authority)
        else { return nil }
        let pair = parts.authority.unicodeScalars[..<mark.end]
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(Substring.init)
        let host = parts.authority[mark.host...]
        let query = parts.query.map { "?\($0)" } ?? ""
        return (
            "\(parts.scheme)://\(host)\(parts.path)\(query)", PercentEncoding.decoded(pair[0]),
            pair.count > 1 ? PercentEncoding.decoded(pair[1]) : ""
        )
    }

    /// Returns where the user of an authority ends and the host begins; nil without one. By bytes, as the sender
    /// reads it.
    private static func user(of authority: String) -> (end: String.Index, host: String.Index)? {
        authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { ($0, authority.utf8.index(after: $0)) }
    }

    /// Returns whether a port stands after a colon; an IPv6 address's own colons stand in brackets.
    private static func hasPort(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let last = host.last, (0x30...0x39).contains(last), let colon = host.lastIndex(of: UInt8(ascii: ":"))
        else { return false }
        return host.lastIndex(of: UInt8(ascii: "]")).map { $0 < colon } ?? true
    }
}
