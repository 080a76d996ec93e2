/// Lets as many exchanges through as the limits allow; the others wait for their turn in order.
///
/// libcurl has limits of its own, but an exchange that waits inside of it uses up its time to connect.
struct ExchangeQueue {
    private let limit: Int
    private let limitPerOrigin: Int
    private var running: [UInt64: String] = [:]
    private var runningPerOrigin: [String: Int] = [:]
    private var waiting: [(id: UInt64, origin: String)] = []

    init(_ configuration: CurlConfiguration) {
        limit = configuration.maximumConnections
        limitPerOrigin = configuration.maximumConnectionsPerOrigin
    }

    /// True when the exchange may go now; otherwise it waits.
    mutating func enter(_ id: UInt64, origin: @autoclosure () -> String) -> Bool {
        // Origins cost time to make out: without a limit they are all the same.
        let origin = limitPerOrigin > 0 ? origin() : ""
        guard hasRoom(origin) else {
            waiting.append((id, origin))
            return false
        }
        admit(id, origin)
        return true
    }

    /// Takes an exchange out, wherever it stands, and names the one whose turn it is now.
    mutating func leave(_ id: UInt64) -> UInt64? {
        guard let origin = running.removeValue(forKey: id) else {
            waiting.removeAll { $0.id == id }
            return nil
        }
        runningPerOrigin[origin, default: 1] -= 1
        if runningPerOrigin[origin] == 0 { runningPerOrigin[origin] = nil }
        guard let next = waiting.firstIndex(where: { hasRoom($0.origin) }) else { return nil }
        let (nextID, nextOrigin) = waiting.remove(at: next)
        admit(nextID, nextOrigin)
        return nextID
    }

    private func hasRoom(_ origin: String) -> Bool {
        guard running.count < limit else { return false }
        return limitPerOrigin == 0 || runningPerOrigin[origin, default: 0] < limitPerOrigin
    }

    private mutating func admit(_ id: UInt64, _ origin: String) {
        running[id] = origin
        runningPerOrigin[origin, default: 0] += 1
    }
}
