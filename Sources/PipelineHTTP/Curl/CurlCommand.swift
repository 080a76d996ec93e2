/// A request of other threads to the thread that owns libcurl.
enum CurlCommand: Sendable {
    case start(CurlExchange)
    case cancel(UInt64)
    case stop
}
