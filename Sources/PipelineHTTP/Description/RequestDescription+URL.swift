extension RequestDescription {
    /// The URL with the query merged in, percent-encoded where it must be; what a signature covers.
    ///
    /// - Throws: ``RequestFailure`` when the URL is not an absolute `http` or `https` one, or holds a space or a control
    ///   character: those come from values that were put in without encoding.
    public func absoluteURL() throws(RequestFailure) -> String {
        guard url.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
            throw RequestFailure("the URL contains a space or a control character: \(withoutQuery)")
        }
        guard let parts = URLParts(url), !parts.authority.isEmpty else {
            throw RequestFailure("not an absolute http or https URL: \(withoutQuery)")
        }
        var result = "\(parts.scheme)://\(parts.authority)"
        let path = PercentEncoding.nonASCII(parts.path)
        result += path.utf8.first == UInt8(ascii: "/") ? path : "/\(path)"
        let all = [
            parts.query.map { PercentEncoding.nonASCII($0) }, query.isEmpty ? nil : PercentEncoding.query(query),
        ]
        .compactMap { $0 }.filter { !$0.isEmpty }
        if !all.isEmpty { result += "?" + all.joined(separator: "&") }
        return result
    }

    /// The names of the parameters that it has already, in the URL too, percent-encoded.
    var parameterNames: Set<String> {
        let written = URLParts(url)?.query.map { $0.split(separator: "&") } ?? []
        return Set(query.map { PercentEncoding.component($0.name) })
            .union(written.map { String($0.prefix { $0 != "=" }) })
    }

    /// The part of the URL that a message may show: queries can hold secrets.
    private var withoutQuery: String {
        String(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" }).forDisplay
    }
}
