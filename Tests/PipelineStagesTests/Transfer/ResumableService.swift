import HTTPTypes
import PipelineTestKit
import Synchronization

/// A service that takes resumable uploads in chosen interop versions, keeps what it got, and misbehaves as told.
final class ResumableService: LoopbackService {
    struct Upload: Sendable {
        var bytes: [UInt8] = []
        var length: Int64
        var isComplete = false
        /// The number of the request that has it: the newest one, as older ones are ended (draft, section 4.6).
        var owner = 0
    }

    struct Faults: Sendable {
        /// Cuts the next appends after so many bytes each.
        var cuts: [Int64] = []
        /// Says nothing to so many final appends, after having taken them.
        var lostAnswers = 0
        /// Forgets an upload once it is complete.
        var forgetsComplete = false
        /// Gives the last answer again to an empty append.
        var replays = true
        /// Forgets all uploads when the next request but a creation comes.
        var forgetsAll = 0
        /// Most bytes of one append.
        var appendLimit: Int64?
        /// True if `appendLimit` is told beforehand.
        var tellsLimit = true
        /// Resets larger ones after that many bytes of theirs, of which it keeps none, instead of answering 413.
        var resetsTooMuch: Int64?
        /// Statuses of the next answers to appends, before their bodies are read.
        var refusals: [Int] = []
        /// Sends a 104 with the offset after so many bytes of an append.
        var informsAfter: Int64?
        /// Tells the URL of a creation with all bytes by a 104, and keeps so many of them without an answer.
        var informsCreation = false
        var creationCuts: [Int64] = []
        /// Destroys an upload for an append at a wrong offset.
        var destroysOnConflict = false
    }

    struct State: Sendable {
        var uploads: [String: Upload] = [:]
        var created = 0
        var faults = Faults()
        var conflicts = 0
    }

    let versions: Set<Int>
    let state: Mutex<State>
    let server = ServiceServer()

    init(versions: Set<Int> = [8], _ faults: Faults = Faults()) throws {
        self.versions = versions
        state = Mutex(State(faults: faults))
        try server.start(for: self)
    }

    var lines: [String] { requests.map { "\($0.method) \($0.path)" } }
    /// Bytes of the file that came over the network in all.
    var received: Int64 { requests.reduce(0) { $0 + $1.bodyCount } }
    var uploads: [String: Upload] { state.withLock(\.uploads) }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard let version = request.header("Upload-Draft-Interop-Version").flatMap({ Int($0) }),
            versions.contains(version)
        else { return .status(400, headers: [("Upload-Draft-Interop-Version", "\(versions.max() ?? 0)")]) }
        let isUpload = request.path.hasPrefix("/uploads/")
        if isUpload,
            state.withLock({ state in
                guard state.faults.forgetsAll > 0 else { return false }
                state.faults.forgetsAll -= 1
                state.uploads = [:]
                return true
            })
        {
            return .status(404)
        }
        switch request.method {
        case "POST": return create(request, version)
        case "HEAD": return offset(request, version)
        case "PATCH": return append(request, version)
        case "DELETE":
            _ = state.withLock { $0.uploads.removeValue(forKey: request.path) }
            return .status(204)
        default: return .status(405)
        }
    }

    private func create(_ request: ReceivedRequest, _ version: Int) -> ScriptedAnswer {
        guard let isWhole = flag(request, version), let length = request.header("Upload-Length").flatMap({ Int64($0) })
        else {
            return .status(400, body: "no length")
        }
        let (path, limit) = state.withLock { state in
            state.created += 1
            let path = "/uploads/\(state.created)"
            state.uploads[path] = Upload(length: length, owner: request.number)
            return (path, state.faults.tellsLimit ? state.faults.appendLimit : nil)
        }
        var headers = [
            ("Location", path), ("Upload-Draft-Interop-Version", "\(version)"), completeness(false, version),
        ]
        if isWhole { return createWhole(request, path, version) }
        if let limit, version >= 6 { headers.append(("Upload-Limit", "max-append-size=\(limit)")) }
        return .status(201, headers: headers)
    }

    private func createWhole(_ request: ReceivedRequest, _ path: String, _ version: Int) -> ScriptedAnswer {
        let (informs, cut) = state.withLock { state in
            (
                state.faults.informsCreation,
                state.faults.creationCuts.isEmpty ? nil : state.faults.creationCuts.removeFirst()
            )
        }
        let told: [ScriptedAnswer.Step] =
            informs ? [.inform(104, [("Upload-Draft-Interop-Version", "\(version)"), ("Location", path)])] : []
        if let cut {
            return ScriptedAnswer(
                told + [
                    .readBody,
                    .then { whole in
                        // A connection that is reset may take the 104 along: all is read, and it ends in order.
                        self.keep(Array(whole.body.prefix(Int(cut))), of: path, from: request)
                        return ScriptedAnswer([.close])
                    },
                ])
        }
        let rest = ScriptedAnswer.stretches(of: request) {
            self.keep($0, of: path, from: request)
        } then: { _ in
            self.finish(path, request, version)
        }
        return ScriptedAnswer(told + rest.steps)
    }

    private func offset(_ request: ReceivedRequest, _ version: Int) -> ScriptedAnswer {
        let found = state.withLock { state in
            state.uploads[request.path]?.owner = request.number
            return state.uploads[request.path]
        }
        guard let upload = found else { return .status(404) }
        return .status(
            204,
            headers: [
                ("Upload-Offset", "\(upload.bytes.count)"), completeness(upload.isComplete, version),
                ("Cache-Control", "no-store"),
            ])
    }

    private func append(_ request: ReceivedRequest, _ version: Int) -> ScriptedAnswer {
        let offset = request.header("Upload-Offset").flatMap { Int($0) }
        let plan = state.withLock { state -> ScriptedAnswer? in
            guard let upload = state.uploads[request.path] else { return .status(404) }
            if upload.isComplete {
                return state.faults.replays && request.contentLength == 0 ? final(upload, version) : .status(400)
            }
            if let status = state.faults.refusals.first {
                state.faults.refusals.removeFirst()
                return .status(status, headers: [("Retry-After", "0")])
            }
            if let limit = state.faults.appendLimit, request.contentLength > limit {
                if let count = state.faults.resetsTooMuch { return .reset(afterRequestBytes: count) }
                return ScriptedAnswer([.send(413, [], []), .close])
            }
            guard offset == upload.bytes.count else {
                state.conflicts += 1
                state.uploads[request.path]?.owner = request.number
                if state.faults.destroysOnConflict { state.uploads[request.path] = nil }
                return .status(409, headers: [("Upload-Offset", "\(upload.bytes.count)")])
            }
            state.uploads[request.path]?.owner = request.number
            return nil
        }
        if let plan { return plan }
        return receive(request, version)
    }

    private func receive(_ request: ReceivedRequest, _ version: Int) -> ScriptedAnswer {
        let isLast = flag(request, version) == true
        let (cut, inform) = state.withLock { state in
            (state.faults.cuts.isEmpty ? nil : state.faults.cuts.removeFirst(), state.faults.informsAfter)
        }
        if let cut, cut < request.contentLength {
            return ScriptedAnswer([
                .read(cut),
                .then { part in
                    self.keep(part.body, of: request.path, from: request)
                    return ScriptedAnswer([.reset])
                },
            ])
        }
        var steps: [ScriptedAnswer.Step] = []
        if let inform, inform < request.contentLength {
            let start = request.header("Upload-Offset").flatMap { Int64($0) } ?? 0
            steps += [
                .read(inform),
                .inform(104, [("Upload-Draft-Interop-Version", "\(version)"), ("Upload-Offset", "\(start + inform)")]),
            ]
        }
        let rest = ScriptedAnswer.stretches(of: request) {
            self.keep($0, of: request.path, from: request)
        } then: { _ in
            guard isLast else {
                let count = self.uploads[request.path]?.bytes.count ?? 0
                return .status(201, headers: [("Upload-Offset", "\(count)"), self.completeness(false, version)])
            }
            return self.finish(request.path, request, version)
        }
        return ScriptedAnswer(steps + rest.steps)
    }

    /// All bytes are there.
    private func finish(_ path: String, _ request: ReceivedRequest, _ version: Int) -> ScriptedAnswer {
        let (upload, isLost) = state.withLock { state -> (Upload?, Bool) in
            guard state.uploads[path]?.owner == request.number else { return (nil, true) }
            state.uploads[path]?.isComplete = true
            let upload = state.uploads[path]
            if state.faults.forgetsComplete { state.uploads[path] = nil }
            guard state.faults.lostAnswers > 0 else { return (upload, false) }
            state.faults.lostAnswers -= 1
            return (upload, true)
        }
        guard let upload, !isLost else { return ScriptedAnswer([.reset]) }
        return final(upload, version)
    }

    private func keep(_ bytes: [UInt8], of path: String, from request: ReceivedRequest) {
        state.withLock { state in
            guard state.uploads[path]?.owner == request.number else { return }
            state.uploads[path]?.bytes += bytes
        }
    }

    private func final(_ upload: Upload, _ version: Int) -> ScriptedAnswer {
        .status(
            201, headers: [completeness(true, version), ("Content-Type", "application/json")],
            body: "{\"id\": \"video-\(upload.bytes.count)\"}")
    }

    private func flag(_ request: ReceivedRequest, _ version: Int) -> Bool? {
        if version >= 5 { return request.header("Upload-Complete").map { $0 == "?1" } }
        return request.header("Upload-Incomplete").map { $0 == "?0" }
    }

    private func completeness(_ isComplete: Bool, _ version: Int) -> (String, String) {
        version >= 5 ? ("Upload-Complete", isComplete ? "?1" : "?0") : ("Upload-Incomplete", isComplete ? "?0" : "?1")
    }
}
