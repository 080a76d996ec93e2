import CCurl

/// Shares the rates of one service out to its exchanges: who finds nothing left is held, and goes on in turn.
///
/// Held exchanges are paused in libcurl (https://curl.se/libcurl/c/curl_easy_pause.html): unlike with its own rate
/// limits the other direction goes on, so that interim answers are read in time. Belongs to the thread of ``CurlLoop``.
final class ServiceThrottle {
    /// One direction of all the service's exchanges.
    enum Direction {
        case send, receive
    }

    /// What is shared; replaced when a document states other rates.
    private(set) var limits: ServiceLimits
    private var send: TokenBucket?
    private var receive: TokenBucket?
    private var heldSenders: [CurlExchange] = []
    private var heldReceivers: [CurlExchange] = []

    init(_ limits: ServiceLimits) {
        self.limits = limits
        let now = MachineClock.monotonic()
        send = limits.sendRate.map { TokenBucket(bytesPerSecond: $0, now: now) }
        receive = limits.receiveRate.map { TokenBucket(bytesPerSecond: $0, now: now) }
    }

    /// Takes over what was stated last.
    func adopt(_ newest: ServiceLimits) {
        guard newest != limits else { return }
        let now = MachineClock.monotonic()
        if newest.sendRate != limits.sendRate {
            send = newest.sendRate.map { TokenBucket(bytesPerSecond: $0, now: now) }
        }
        if newest.receiveRate != limits.receiveRate {
            receive = newest.receiveRate.map { TokenBucket(bytesPerSecond: $0, now: now) }
        }
        limits = newest
    }

    /// Returns how many bytes of a body may be read for sending; nil when the exchange is held for now.
    func allowance(_ exchange: CurlExchange, wanted: Int) -> Int? {
        guard send != nil else { return wanted }
        let free = send!.available(at: MachineClock.monotonic())
        // What others wait for is not taken away from them.
        let share = heldSenders.isEmpty ? free : min(free, Int(send!.quantum))
        // Crumbs would keep it busy: it is held until a piece is worth a wake-up, and known to be held meanwhile.
        guard share >= min(wanted, Int(send!.quantum)) else {
            hold(exchange, .send)
            return nil
        }
        return min(wanted, share)
    }

    /// Notes what was read for sending.
    func sent(_ count: Int) { send?.take(count) }

    /// Returns whether a piece of an answer may be taken now; otherwise the exchange is held, and gets it again later.
    func accepts(_ exchange: CurlExchange, count: Int) -> Bool {
        guard receive != nil else { return true }
        guard receive!.available(at: MachineClock.monotonic()) > 0 else {
            hold(exchange, .receive)
            return false
        }
        receive!.take(count)
        return true
    }

    /// Lets go of an exchange that has ended.
    func forget(_ exchange: CurlExchange) {
        heldSenders.removeAll { $0 === exchange }
        heldReceivers.removeAll { $0 === exchange }
        exchange.allotment.heldDirections = []
    }

    /// Lets those go on for whom enough is free, in the order in which they were held.
    /// - Returns: when to ask again; nil when nobody is held.
    func release(at now: Duration) -> Duration? {
        // libcurl hands over what it kept back at once, which may lead back to here: nothing is open meanwhile.
        for exchange in Self.due(&heldSenders, &send, at: now) {
            exchange.allotment.heldDirections.remove(.send)
            exchange.goOn()
        }
        for exchange in Self.due(&heldReceivers, &receive, at: now) {
            exchange.allotment.heldDirections.remove(.receive)
            exchange.goOn()
        }
        let waits = [
            heldSenders.isEmpty ? nil : send?.wait(at: now), heldReceivers.isEmpty ? nil : receive?.wait(at: now),
        ]
        return waits.compactMap(\.self).min().map { now + max(.milliseconds(1), $0) }
    }

    private func hold(_ exchange: CurlExchange, _ direction: Direction) {
        guard exchange.allotment.heldDirections.insert(direction).inserted else { return }
        switch direction {
        case .send: heldSenders.append(exchange)
        case .receive: heldReceivers.append(exchange)
        }
    }

    private static func due(
        _ held: inout [CurlExchange], _ bucket: inout TokenBucket?, at now: Duration
    ) -> [CurlExchange] {
        guard !held.isEmpty else { return [] }
        guard var tokens = bucket else {
            defer { held = [] }
            return held
        }
        let shares = Int(Double(tokens.available(at: now)) / tokens.quantum.rounded(.down))
        bucket = tokens
        let count = min(held.count, shares)
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }
}
