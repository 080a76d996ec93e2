import CCurl
import HTTPTypes
import NetworkTasks

extension CurlExchange {
    /// Returns when the limits on silence and slowness end this exchange, if nothing more moves until then.
    func deadlines(at now: Duration) -> [(time: Duration, limit: ExchangeFailure.Timeout)] {
        var deadlines: [(time: Duration, limit: ExchangeFailure.Timeout)] = []
        if let idle = options.idleTimeout {
            // What a rate limit of our own holds back is not silent.
            let start = isConnected && heldDirections.isEmpty ? lastMove : now
            deadlines.append((start + idle, .idle))
        }
        if let stall = options.stall { deadlines.append((stallDeadline(stall, at: now), .stall)) }
        return deadlines
    }

    /// Takes time out of the account in which we did not look.
    func forgive(_ absence: Duration, at now: Duration) {
        lastMove = min(lastMove + absence, now)
        if let window = stallWindow { stallWindow = (min(window.start + absence, now), window.moved) }
    }

    /// A window begins whenever enough has moved, or when nothing has to move: then there is no stall.
    private func stallDeadline(_ rule: StallRule, at now: Duration) -> Duration {
        let moved = progress.sent + progress.received
        let expected = Double(rule.bytesPerSecond) * rule.time.seconds
        let isEnough = stallWindow.map { Double(moved - $0.moved) >= expected } ?? true
        if isEnough || !isBodyMoving || !heldDirections.isEmpty { stallWindow = (now, moved) }
        return (stallWindow?.start ?? now) + rule.time
    }

    /// True if bytes of a body ought to be on their way.
    private var isBodyMoving: Bool {
        guard isConnected else { return false }
        return head != nil || progress.sent < progress.sendTotal ?? 0
    }

    /// Lets libcurl go on in the directions in which the exchange is no longer held.
    func goOn() {
        guard let easy else { return }
        var bits = CURLPAUSE_CONT
        if heldDirections.contains(.send) { bits |= CURLPAUSE_SEND }
        if heldDirections.contains(.receive) { bits |= CURLPAUSE_RECV }
        touch()
        stallWindow = nil
        curl_easy_pause(easy.pointer, bits)
    }
}
