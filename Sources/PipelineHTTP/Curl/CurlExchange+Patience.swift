import CCurl
import HTTPTypes
import NetworkTasks

extension CurlExchange {
    /// Returns when the limits on silence and slowness end this exchange, if nothing more moves until then.
    func deadlines(at now: Duration) -> [(time: Duration, limit: ExchangeFailure.Timeout)] {
        var deadlines: [(time: Duration, limit: ExchangeFailure.Timeout)] = []
        if let idle = options.idleTimeout {
            // What a rate limit of our own holds back is not silent.
            let start = hop.isConnected && allotment.heldDirections.isEmpty ? liveness.lastMove : now
            deadlines.append((start + idle, .idle))
        }
        if let patience = options.patienceAfterAnswer, hop.isConnected, progress.sent < progress.sendTotal ?? 0 {
            // Looked at again as often while there is no such answer.
            let start = isAnsweredEarly && allotment.heldDirections.isEmpty ? liveness.lastMove : now
            deadlines.append((start + patience, .idle))
        }
        if let stall = options.stall {
            let deadline = liveness.deadline(
                by: stall, moved: progress.sent + progress.received,
                isMoving: isBodyMoving && allotment.heldDirections.isEmpty, mayBeSlow: mayBeSlow, at: now)
            deadlines.append((deadline, .stall))
        }
        return deadlines
    }

    /// True if bytes of a body ought to be on their way.
    private var isBodyMoving: Bool {
        guard hop.isConnected else { return false }
        return hop.response.final != nil || progress.sent < progress.sendTotal ?? 0
    }

    /// True if what comes may come as slowly as it likes: while a service still works at an answer of a length that it does not
    /// know, it may send white space to keep the connection alive, as S3 does (CompleteMultipartUpload).
    private var mayBeSlow: Bool {
        guard hop.response.final != nil, progress.receiveTotal == nil else { return false }
        return if case .memory = options.receive { true } else { false }
    }

    /// Lets libcurl go on in the directions in which the exchange is no longer held.
    func goOn() {
        guard let easy else { return }
        var bits = CURLPAUSE_CONT
        if allotment.heldDirections.contains(.send) { bits |= CURLPAUSE_SEND }
        if allotment.heldDirections.contains(.receive) { bits |= CURLPAUSE_RECV }
        touch()
        liveness.window = nil
        curl_easy_pause(easy.pointer, bits)
    }
}
