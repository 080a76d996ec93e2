/// A URL or relative reference in its five parts (RFC 3986, section 3), and its resolution (section 5).
///
/// Nothing is validated or normalized beyond what resolution does: what a server sent is what goes out again. It is cut by
/// bytes: a mark after a delimiter makes one Character of both, which is no delimiter.
package struct URLReference: Sendable, Hashable {
    package var scheme: String?
    /// The text between `//` and the path; empty after a bare `//`.
    package var authority: String?
    package var path: String
    package var query: String?
    package var fragment: String?

    /// Splits a text as the expression of RFC 3986, appendix B, does; every text has such a split.
    package init(_ text: String) {
        var text = text
        self = text.withUTF8 { URLReference($0[...]) }
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private init(_ bytes: Bytes) {
        var rest = bytes
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = Self.text(rest[(hash + 1)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = Self.text(rest[(mark + 1)...])
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = Self.text(rest[..<colon])
            rest = rest[(colon + 1)...]
        }
        if rest.count >= 2, rest[rest.startIndex] == UInt8(ascii: "/"), rest[rest.startIndex + 1] == UInt8(ascii: "/") {
            let start = rest.dropFirst(2)
            let end = start.firstIndex(of: UInt8(ascii: "/")) ?? start.endIndex
            authority = Self.text(start[..<end])
            rest = start[end...]
        }
        path = Self.text(rest)
    }

    private static func text(_ bytes: Bytes) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
    }

    /// Returns whether a text is an absolute http or https URL that names a host, with nothing in it that no URL has.
    package static func isWebURL(_ text: String) -> Bool {
        let parts = URLReference(text)
        guard ["http", "https"].contains(parts.scheme?.lowercased()), let authority = parts.authority else {
            return false
        }
        let isClean = text.utf8.allSatisfy { $0 > 32 && $0 != 127 }
        return isClean && !authority.isEmpty && parts.authorityMistake == nil
    }

    /// The mistake in host and port (RFC 3986, section 3.2); nil for nothing.
    package var authorityMistake: String? {
        guard let authority else { return nil }
        var host = Substring(authority)
        if let at = host.utf8.lastIndex(of: UInt8(ascii: "@")) { host = host[host.utf8.index(after: at)...] }
        if host.utf8.first == UInt8(ascii: "[") {
            guard let end = host.utf8.firstIndex(of: UInt8(ascii: "]")) else { return "the address '\(host)' has no ]" }
            host = host[host.utf8.index(after: end)...]
            if host.isEmpty { return nil }
            guard host.utf8.first == UInt8(ascii: ":") else {
                return "after an address in [ ] comes nothing but a port"
            }
            return Self.portMistake(host.dropFirst())
        }
        let parts = host.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count > 2 {
            let isAddress =
                host.utf8.allSatisfy { Hex.value(of: $0) != nil || $0 == UInt8(ascii: ":") }
                && parts.count > 3
            return isAddress ? "an IPv6 address stands in brackets: [\(host)]" : "'\(host)' has more than one port"
        }
        if parts.first?.isEmpty == true { return "there is no host" }
        return parts.count == 2 ? Self.portMistake(parts[1]) : nil
    }

    private static func portMistake(_ text: Substring) -> String? {
        if text.isEmpty || (1...65_535).contains(Int(text) ?? 0) { return nil }
        return "'\(text)' is no port: those are 1 to 65535"
    }

    /// The parts put together again (section 5.3).
    package var text: String {
        var text = scheme.map { "\($0):" } ?? ""
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// The absolute URL that a reference means in a document at `base` (section 5.2.2, the strict form).
    ///
    /// White space around the reference is dropped. Nil when `base` has no scheme.
    package static func resolve(_ reference: String, against base: String) -> String? {
        let base = URLReference(base)
        guard base.scheme != nil else { return nil }
        let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
        let start = reference.unicodeScalars.drop(while: isSpace)
        let trimmed = start[..<(start.lastIndex { !isSpace($0) }.map { start.index(after: $0) } ?? start.startIndex)]
        return URLReference(String(trimmed)).resolved(against: base).text
    }

    private func resolved(against base: URLReference) -> URLReference {
        var target = self
        guard scheme == nil else {
            target.path = Self.withoutDots(path)
            return target
        }
        target.scheme = base.scheme
        if authority == nil {
            target.authority = base.authority
            if path.isEmpty {
                target.path = base.path
                target.query = query ?? base.query
                return target
            }
            if path.utf8.first != UInt8(ascii: "/") { target.path = Self.merged(path, base) }
        }
        target.path = Self.withoutDots(target.path)
        return target
    }

    /// Section 5.2.3.
    private static func merged(_ path: String, _ base: URLReference) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return base.path[..<base.path.utf8.index(after: slash)] + path
    }

    /// Section 5.2.4, with one pass over the segments.
    private static func withoutDots(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        let segments = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).dropFirst(
            isRooted ? 1 : 0
        ).map(Substring.init)
        var kept: [Substring] = []
        var endsInFolder = false
        for segment in segments {
            endsInFolder = segment == "." || segment == ".."
            if segment == ".." { _ = kept.popLast() }
            if !endsInFolder { kept.append(segment) }
        }
        if endsInFolder, isRooted || !kept.isEmpty { kept.append("") }
        return (isRooted ? "/" : "") + kept.joined(separator: "/")
    }

    private static func isScheme(_ bytes: Bytes) -> Bool {
        guard let first = bytes.first, (0x61...0x7A).contains(first | 0x20) else { return false }
        return bytes.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
        }
    }
}
