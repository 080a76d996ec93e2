import CCurl

/// Times as HTTP writes them.
enum HTTPDate {
    /// The seconds since 1970 (https://curl.se/libcurl/c/curl_getdate.html); nil for what is no date.
    static func seconds(_ text: String) -> Double? {
        let time = curl_getdate(text, nil)
        return time < 0 ? nil : Double(time)
    }
}

extension HTTPExchangeResponse {
    /// How long the server asks to be left alone, in seconds or by a date, which counts from its own `Date` (RFC 9110,
    /// section 10.2.3); nil when it does not ask, or asks in another way.
    ///
    /// - Parameter now: the time since 1 January 1970 UTC.
    package func wait(now: Duration) -> Duration? {
        guard let text = header("Retry-After"), !text.isEmpty else { return nil }
        let isNumber = text.utf8.allSatisfy { (48...57).contains($0) }
        let begin = header("Date").flatMap(HTTPDate.seconds) ?? now / .seconds(1)
        guard let seconds = isNumber ? Double(text) : HTTPDate.seconds(text).map({ $0 - begin }) else { return nil }
        // A hundred years: a server may say any number.
        return .seconds(min(max(0, seconds), 36_525 * 86_400))
    }
}
