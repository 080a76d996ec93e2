import CLibrary

/// The proxy that libcurl may take to a URL, chosen as it chooses (https://curl.se/libcurl/c/CURLOPT_PROXY.html). Whether it
/// took it only its words tell: the environment may except hosts.
struct CurlProxy {
    /// Host and port as they were written, without user and password.
    let name: String

    /// Nil when there is none.
    /// - Parameter option: the proxy's URL; nil for the one that the environment names, empty for none.
    init?(to url: String, option: String?) {
        guard let text = option ?? Self.environment(URLParts(url)?.scheme ?? ""), !text.isEmpty else { return nil }
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let authority = rest.prefix { $0 != "/" }
        let start = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        name = String(authority[start...])
    }

    /// `HTTP_PROXY` in capitals does not count: a web server lets its clients set it.
    private static func environment(_ scheme: String) -> String? {
        let own = scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        for variable in own + ["all_proxy", "ALL_PROXY"] {
            if let value = getenv(variable), value[0] != 0 { return String(cString: value) }
        }
        return nil
    }
}
