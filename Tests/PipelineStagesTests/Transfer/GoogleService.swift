import HTTPTypes
import PipelineTestKit
import Synchronization

/// A service that takes uploads as Google Cloud Storage does, and misbehaves as told.
final class GoogleService: LoopbackService {
    struct Session: Sendable {
        var bytes: [UInt8] = []
        var total: Int
        var isComplete = false
    }

    struct Faults: Sendable {
        /// Cuts the next requests with bytes after so many each; what is kept is a multiple of 256 KiB.
        var cuts: [Int64] = []
        var keepsNothing = false
        /// Takes all bytes of each request, and keeps none.
        var forgets = false
        /// Says of so many requests that it has all bytes and is not done, once it has them.
        var unfinished = 0
        /// Statuses of the next answers to anything about a session.
        var statuses: [Int] = []
        var lostAnswers = 0
        /// Gives the session's address in the body alone.
        var answersInBody = false
    }

    struct State: Sendable {
        var sessions: [String: Session] = [:]
        var created = 0
        var faults: Faults
    }

    let state: Mutex<State>
    let server = ServiceServer()

    init(_ faults: Faults = Faults()) throws {
        state = Mutex(State(faults: faults))
        try server.start(for: self)
    }

    /// Method and `Content-Range`.
    var lines: [String] { requests.map { "\($0.method) \($0.header("Content-Range") ?? "-")" } }
    var received: Int64 { requests.filter { $0.method == "PUT" }.reduce(0) { $0 + $1.bodyCount } }
    var sessions: [String: Session] { state.withLock(\.sessions) }

    /// A session as if somebody had made it.
    func open(_ name: String, total: Int) { state.withLock { $0.sessions[name] = Session(total: total) } }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        if request.method == "POST" { return create(request) }
        let name = String(request.target.split(separator: "=").last ?? "")
        let refusal = state.withLock { $0.faults.statuses.isEmpty ? nil : $0.faults.statuses.removeFirst() }
        if let refusal { return .status(refusal, headers: [("X-GUploader-UploadID", "abc")]) }
        guard let session = sessions[name] else { return .status(404) }
        if request.method == "DELETE" {
            state.withLock { $0.sessions[name] = nil }
            return .status(499)
        }
        guard request.method == "PUT", let range = request.header("Content-Range"), range.hasPrefix("bytes ") else {
            return .status(400)
        }
        if session.isComplete {
            let isDone = state.withLock { state in
                defer { state.faults.unfinished -= 1 }
                return state.faults.unfinished <= 0
            }
            return isDone ? final(session) : held(session)
        }
        let words = range.dropFirst(6).split(separator: "/")
        guard words.last.flatMap({ Int($0) }) == session.total else { return .status(400, body: "wrong total") }
        let isLast = words[0] == "*" ? session.total == 0 : words[0].hasSuffix("-\(session.total - 1)")
        if words[0] == "*", !isLast { return held(session) }
        guard words[0] == "*" || Int(words[0].prefix { $0 != "-" }) == session.bytes.count else { return .status(503) }
        return receive(request, name, isLast: isLast)
    }

    private func create(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard let total = request.header("X-Upload-Content-Length").flatMap({ Int($0) }),
            request.header("X-Upload-Content-Type") != nil
        else { return .status(400) }
        let (name, isInBody) = state.withLock { state in
            state.created += 1
            state.sessions["s\(state.created)"] = Session(total: total)
            return ("s\(state.created)", state.faults.answersInBody)
        }
        let address = "http://\(request.header("Host") ?? "")/upload?upload_id=\(name)"
        return .status(
            200, headers: isInBody ? [] : [("Location", address)], body: "{\"data\": {\"url\": \"\(address)\"}}")
    }

    private func receive(_ request: ReceivedRequest, _ name: String, isLast: Bool) -> ScriptedAnswer {
        let cut = state.withLock { $0.faults.cuts.isEmpty ? nil : $0.faults.cuts.removeFirst() }
        if let cut, cut < request.contentLength {
            return ScriptedAnswer([
                .read(cut),
                .then { part in
                    self.state.withLock { state in
                        let count = state.faults.keepsNothing ? 0 : part.body.count / 262_144 * 262_144
                        state.sessions[name]?.bytes += part.body.prefix(count)
                    }
                    return ScriptedAnswer([.reset])
                },
            ])
        }
        guard isLast || request.contentLength % 262_144 == 0 else { return .status(400, body: "granularity") }
        return ScriptedAnswer([
            .readBody,
            .then { whole in
                if self.state.withLock(\.faults.forgets) { return self.held(Session(total: 0)) }
                let (session, isLost) = self.state.withLock { state in
                    state.sessions[name]?.bytes += whole.body
                    state.sessions[name]?.isComplete = isLast
                    let isLost = isLast && state.faults.lostAnswers > 0
                    if isLost { state.faults.lostAnswers -= 1 }
                    return (state.sessions[name] ?? Session(total: 0), isLost)
                }
                if isLost { return ScriptedAnswer([.reset]) }
                let isDone = self.state.withLock { $0.faults.unfinished <= 0 }
                return isLast && isDone ? self.final(session) : self.held(session)
            },
        ])
    }

    private func held(_ session: Session) -> ScriptedAnswer {
        .status(308, headers: session.bytes.isEmpty ? [] : [("Range", "bytes=0-\(session.bytes.count - 1)")])
    }

    private func final(_ session: Session) -> ScriptedAnswer { .json("{\"size\": \"\(session.bytes.count)\"}") }
}
