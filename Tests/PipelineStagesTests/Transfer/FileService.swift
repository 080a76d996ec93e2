import HTTPTypes
import PipelineTestKit
import Synchronization

@testable import PipelineStages

/// A service that gives one file, with ranges, and misbehaves as told.
final class FileService: LoopbackService {
    struct State: Sendable {
        var content: [UInt8]
        var tag: String? = "\"v1\""
        /// Fields of each 200 and 206.
        var fields: [(String, String)] = []
        /// Cuts the next answers after so many bytes of their body.
        var cuts: [Int] = []
        /// Answers 200 with the whole to a range.
        var ignoresRanges = false
        /// Gives parts of whatever it has by then, and does not say of which version they are.
        var blursVersions = false
        /// Gives these answers first, whatever was asked.
        var answers: [ScriptedAnswer] = []
        /// Answers with these statuses first.
        var statuses: [Int] = []
        /// Sends at most so many bytes of a range.
        var rangeLimit: Int?
        /// Damages the bodies of the next answers.
        var damages = 0
        /// Opened when half of the body is out; then it waits for the other.
        var half: (reached: Gate, goOn: Gate)?
        var isChunked = false
        /// Fields behind the last chunk.
        var trailers: [(String, String)] = []
        /// Answers to ranges with both ends wait until this is opened by so many of them.
        var together: (gate: Gate, count: Int)?
        /// How many of these are on their way, and how many were at one time.
        var flying = 0
        var mostFlying = 0
        var sent: Int64 = 0
    }

    let state: Mutex<State>
    let server = ServiceServer()

    init(_ content: [UInt8], _ change: (inout State) -> Void = { _ in }) throws {
        var initial = State(content: content)
        change(&initial)
        state = Mutex(initial)
        try server.start(for: self)
    }

    var ranges: [String?] { requests.map { $0.header("Range") } }
    /// Bytes of bodies that went out.
    var sent: Int64 { state.withLock(\.sent) }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        state.withLock { state in
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            if !state.statuses.isEmpty { return .status(state.statuses.removeFirst(), body: #"{"error": "not now"}"#) }
            let size = state.content.count
            var start = 0
            var end = size
            var isPart = false
            let condition = request.header("If-Range")
            let matches = state.blursVersions || condition == nil || condition == state.tag
            if !state.ignoresRanges, matches, let range = request.header("Range"), range.hasPrefix("bytes=") {
                start = Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
                let last = range.split(separator: "-").count > 1 ? range.split(separator: "-").last : nil
                end = last.flatMap { Int($0) }.map { min(size, $0 + 1) } ?? size
                isPart = start > 0 || last != nil
                guard start < size else { return .status(416, headers: [("Content-Range", "bytes */\(size)")]) }
            }
            if isPart { end = min(end, start + (state.rangeLimit ?? size)) }
            var headers = state.fields
            if let tag = state.tag, !(isPart && state.blursVersions) { headers.append(("ETag", tag)) }
            if isPart { headers.append(("Content-Range", "bytes \(start)-\(end - 1)/\(size)")) }
            var body = Array(state.content[start..<end])
            if state.damages > 0 {
                state.damages -= 1
                body[body.count / 2] ^= 1
            }
            if isPart, start > 0, state.together != nil || state.mostFlying > 0, state.cuts.isEmpty {
                return flying(body, headers, &state)
            }
            return answer(body, isPart ? 206 : 200, headers, &state)
        }
    }

    /// A range that is counted from its head to the moment before its last byte.
    private func flying(_ body: [UInt8], _ headers: [(String, String)], _ state: inout State) -> ScriptedAnswer {
        state.flying += 1
        state.mostFlying = max(state.mostFlying, state.flying)
        state.sent += Int64(body.count)
        var steps = [ScriptedAnswer.Step.head(206, headers + [("Content-Length", "\(body.count)")])]
        if let (gate, count) = state.together {
            if state.flying >= count {
                state.together = nil
                steps.append(.open(gate))
            }
            steps.append(.wait(gate))
        }
        let landed = ScriptedAnswer.Step.then { [weak self] _ in
            self?.change { $0.flying -= 1 }
            return ScriptedAnswer([.bytes(Array(body.suffix(1)))])
        }
        return ScriptedAnswer(steps + [.bytes(Array(body.dropLast())), landed])
    }

    private func answer(
        _ body: [UInt8], _ status: Int, _ headers: [(String, String)], _ state: inout State
    ) -> ScriptedAnswer {
        if state.isChunked {
            state.sent += Int64(body.count)
            return ScriptedAnswer([
                .head(status, headers + [("Transfer-Encoding", "chunked")]), .chunk(body),
                .endOfChunks(trailers: state.trailers),
            ])
        }
        let head = ScriptedAnswer.Step.head(status, headers + [("Content-Length", "\(body.count)")])
        if let half = state.half {
            state.half = nil
            let middle = body.count / 2
            state.sent += Int64(body.count)
            return ScriptedAnswer([
                head, .bytes(Array(body[..<middle])), .open(half.reached), .wait(half.goOn),
                .bytes(Array(body[middle...])),
            ])
        }
        guard !state.cuts.isEmpty, case let cut = state.cuts.removeFirst(), cut < body.count else {
            state.sent += Int64(body.count)
            return ScriptedAnswer([head, .bytes(body)])
        }
        state.sent += Int64(cut)
        return ScriptedAnswer([head, .bytes(Array(body[..<cut])), .close])
    }
}
