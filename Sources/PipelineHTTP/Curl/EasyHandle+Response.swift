import CCurl
import NetworkTasks

/// What libcurl knows of the exchange that a handle has made.
extension EasyHandle {
    /// The version of HTTP, as a status line names it; empty while none is known.
    ///
    /// https://curl.se/libcurl/c/CURLINFO_HTTP_VERSION.html
    var version: String {
        switch long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "HTTP/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "HTTP/2"
        case Int(CURL_HTTP_VERSION_3): "HTTP/3"
        default: ""
        }
    }

    /// The seconds from the start of the exchange to each of its stages.
    ///
    /// - Parameter sent: the time after which the whole request was out, where that was seen.
    func timings(sentAfter sent: Duration?) -> ExchangeTimings {
        func seconds(_ info: CURLINFO) -> Double { Double(offset(info)) / 1_000_000 }
        return ExchangeTimings(
            nameLookup: seconds(CURLINFO_NAMELOOKUP_TIME_T),
            connect: seconds(CURLINFO_CONNECT_TIME_T),
            tls: seconds(CURLINFO_APPCONNECT_TIME_T),
            sent: max(seconds(CURLINFO_PRETRANSFER_TIME_T), sent.map { $0 / .seconds(1) } ?? 0),
            firstByte: seconds(CURLINFO_STARTTRANSFER_TIME_T),
            total: seconds(CURLINFO_TOTAL_TIME_T)
        )
    }
}
