/// Lets as many exchanges through as the limits allow, and as often as their services' pace does; the others wait for
/// their turn in order, behind those that are more urgent.
///
/// Turns that are taken before their exchanges begin stand in the lines of services like these, and take none of the
/// places that all services share: whoever has a turn may need one for another exchange first, such as for a token.
///
/// libcurl has limits of its own, but an exchange that waits inside of it uses up its time to connect.
struct ExchangeQueue {
    /// The lane in which an exchange waits: with those of its service to the same origin.
    struct Lane: Hashable {
        var service = ""
        var origin = ""
    }

    private struct Line {
        var limit = 0
        var running = 0
        /// By their numbers.
        var waiting: [(id: UInt64, number: Int, isTurn: Bool)] = []
    }

    private let limit: Int
    private let limitPerOrigin: Int
    private var lines: [Lane: Line] = [:]
    private var paces: [String: RequestPace] = [:]
    private var running: [UInt64: Lane] = [:]
    private var turns: [UInt64: Lane] = [:]
    private var lanes: [UInt64: Lane] = [:]
    private var lastNumber = 0

    init(_ configuration: CurlConfiguration) {
        limit = configuration.maximumConnections
        limitPerOrigin = configuration.maximumConnectionsPerOrigin
    }

    /// True when the exchange may go now, or the turn is there; otherwise it waits.
    mutating func enter(
        _ id: UInt64, origin: @autoclosure () -> String, limits: ServiceLimits?, isTurn: Bool = false,
        at now: Duration
    ) -> Bool {
        // Origins cost time to make out: without a limit they are all the same.
        let most = [limits?.connections, limitPerOrigin > 0 ? limitPerOrigin : nil].compactMap(\.self).min() ?? 0
        let lane = Lane(service: limits?.service ?? "", origin: most > 0 ? origin() : "")
        var line = lines.removeValue(forKey: lane) ?? Line()
        line.limit = most
        note(limits)
        let mayGo = line.waiting.isEmpty && hasPlace(isTurn) && hasRoom(line) && isOpen(lane, at: now)
        if mayGo {
            begin(id, isTurn, in: lane, &line, at: now)
        } else {
            lastNumber += 1
            let number = lastNumber - (limits?.urgency ?? 0) * (.max / 8)
            let place = line.waiting.firstIndex { $0.number > number } ?? line.waiting.endIndex
            line.waiting.insert((id, number, isTurn), at: place)
            lanes[id] = lane
        }
        lines[lane] = line
        return mayGo
    }

    /// Takes an exchange out, wherever it stands.
    mutating func leave(_ id: UInt64) {
        if let lane = running.removeValue(forKey: id) ?? turns.removeValue(forKey: id) {
            lines[lane]?.running -= 1
            clean(lane)
        } else if let lane = lanes.removeValue(forKey: id) {
            lines[lane]?.waiting.removeAll { $0.id == id }
            clean(lane)
        }
    }

    /// Counts a request that an exchange sends besides its first: a redirect that is followed.
    mutating func countFurtherRequest(_ service: String?, at now: Duration) {
        if let service { paces[service]?.begin(at: now) }
    }

    /// The one whose turn it is, if anyone's is.
    mutating func next(at now: Duration) -> UInt64? {
        guard !lanes.isEmpty else { return nil }
        var chosen: (lane: Lane, number: Int)?
        for (lane, line) in lines {
            guard let first = line.waiting.first, hasPlace(first.isTurn), hasRoom(line),
                first.number < chosen?.number ?? .max, isOpen(lane, at: now)
            else { continue }
            chosen = (lane, first.number)
        }
        guard let lane = chosen?.lane, var line = lines.removeValue(forKey: lane) else { return nil }
        let first = line.waiting.removeFirst()
        lanes[first.id] = nil
        begin(first.id, first.isTurn, in: lane, &line, at: now)
        lines[lane] = line
        return first.id
    }

    /// The time when somebody's turn may come without anyone leaving; nil when nobody waits for a pace alone.
    var nextTurn: Duration? {
        guard !lanes.isEmpty else { return nil }
        return lines.compactMap { lane, line in
            guard let first = line.waiting.first, hasPlace(first.isTurn), hasRoom(line) else { return nil }
            return paces[lane.service]?.nextAt
        }.min()
    }

    private mutating func begin(
        _ id: UInt64, _ isTurn: Bool, in lane: Lane, _ line: inout Line, at now: Duration
    ) {
        line.running += 1
        if isTurn { turns[id] = lane } else { running[id] = lane }
        paces[lane.service]?.begin(at: now)
    }

    private func hasPlace(_ isTurn: Bool) -> Bool { isTurn || running.count < limit }

    private func hasRoom(_ line: Line) -> Bool { line.limit == 0 || line.running < line.limit }

    private func isOpen(_ lane: Lane, at now: Duration) -> Bool { paces[lane.service].map { $0.nextAt <= now } ?? true }

    private mutating func note(_ limits: ServiceLimits?) {
        guard let limits else { return }
        guard let rate = limits.requestsPerSecond, rate > 0 else {
            paces[limits.service] = nil
            return
        }
        paces[limits.service, default: RequestPace()].interval = .seconds(1 / rate)
    }

    private mutating func clean(_ lane: Lane) {
        if let line = lines[lane], line.running == 0, line.waiting.isEmpty { lines[lane] = nil }
    }
}

/// The pace at which requests to one service may begin.
struct RequestPace {
    var interval: Duration = .zero
    /// The time when the next one may begin.
    private(set) var nextAt: Duration = .zero

    mutating func begin(at now: Duration) { nextAt = max(nextAt, now) + interval }
}
