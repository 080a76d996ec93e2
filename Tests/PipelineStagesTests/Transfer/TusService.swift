import Crypto
import HTTPTypes
import PipelineCore
import PipelineTestKit
import Synchronization

@testable import PipelineStages

/// A service that speaks tus 1.0.0, keeps what it got, and misbehaves as told.
final class TusService: LoopbackService {
    struct Upload: Sendable {
        var bytes: [UInt8] = []
        var length: Int
        var metadata: String?
        var checksums: [String] = []
        /// The number of the request that has it: the newest one.
        var owner = 0
    }

    struct Faults: Sendable {
        /// Cuts the next appends after so many bytes each.
        var cuts: [Int64] = []
        /// Cuts every request with more bytes than that after so many.
        var lineLimit: Int64?
        /// Keeps nothing of an append that was cut.
        var keepsNothing = false
        /// Takes every append, keeps nothing of it, and says so.
        var forgets = false
        /// Statuses of the next answers to HEAD.
        var heads: [Int] = []
        /// What stands in these answers beside the status.
        var headFields = [("Retry-After", "0")]
        /// Statuses of the next answers to PATCH, before their bodies are read.
        var refusals: [Int] = []
        /// Statuses of the next answers to DELETE.
        var removals: [Int] = []
        /// Says nothing to so many final appends, after having taken them.
        var lostAnswers = 0
        /// Most bytes of one append.
        var appendLimit: Int64?
        var givesAbsoluteLocation = false
        /// What it offers beyond the core.
        var extensions: String?
        /// How long after each answer it drops an upload, in seconds; its clock is of another year.
        var life: Int?
        /// Finds the next appends damaged.
        var damages = 0
        /// Says nothing of when to come back.
        var givesNoPause = false
        /// So many appends are answered by somebody else on the way, with a page.
        var strangers = 0
    }

    struct State: Sendable {
        var uploads: [String: Upload] = [:]
        var created = 0
        var faults: Faults
    }

    let state: Mutex<State>
    let server = ServiceServer()

    init(_ faults: Faults = Faults()) throws {
        state = Mutex(State(faults: faults))
        try server.start(for: self)
    }

    var lines: [String] { requests.filter { $0.method != "OPTIONS" }.map { "\($0.method) \($0.path)" } }
    var received: Int64 { requests.reduce(0) { $0 + $1.bodyCount } }
    var uploads: [String: Upload] { state.withLock(\.uploads) }

    private static func status(_ status: Int, _ headers: [(String, String)] = []) -> ScriptedAnswer {
        .status(status, headers: [("Tus-Resumable", "1.0.0")] + headers)
    }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard request.header("Tus-Resumable") == "1.0.0" else {
            return .status(412, headers: [("Tus-Version", "1.0.0")])
        }
        switch request.method {
        case "OPTIONS":
            guard let extensions = state.withLock(\.faults.extensions) else { return Self.status(405) }
            return Self.status(
                204,
                [
                    ("Tus-Version", "1.0.0"), ("Tus-Extension", extensions),
                    ("Tus-Checksum-Algorithm", "md5,sha1,sha256"),
                ])
        case "POST": return create(request)
        case "HEAD": return offset(request)
        case "PATCH": return append(request)
        case "DELETE":
            let refusal = state.withLock { $0.faults.removals.isEmpty ? nil : $0.faults.removals.removeFirst() }
            if let refusal { return Self.status(refusal) }
            let removed = state.withLock { $0.uploads.removeValue(forKey: request.path) }
            return Self.status(removed == nil ? 404 : 204)
        default: return Self.status(405)
        }
    }

    /// The fields that say when an upload is dropped, by a clock of its own.
    private var expiration: [(String, String)] {
        guard let life = state.withLock(\.faults.life) else { return [] }
        let now = Timestamp(milliseconds: 1_000_000_000_000)
        return [("Date", now.httpDate), ("Upload-Expires", (now + .seconds(life)).httpDate)]
    }

    private func create(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard let length = request.header("Upload-Length").flatMap({ Int($0) }),
            request.contentLength == 0 || state.withLock({ $0.faults.extensions?.contains("with-upload") == true })
        else {
            return Self.status(400)
        }
        let (path, isAbsolute) = state.withLock { state in
            state.created += 1
            let path = "/files/\(state.created)"
            state.uploads[path] = Upload(length: length, metadata: request.header("Upload-Metadata"))
            return (path, state.faults.givesAbsoluteLocation)
        }
        if let limit = state.withLock(\.faults.lineLimit), request.contentLength > limit {
            return ScriptedAnswer([.read(limit), .reset])
        }
        let location = [("Location", isAbsolute ? url + path : String(path.dropFirst(7)))] + expiration
        guard request.contentLength > 0 else { return Self.status(201, location) }
        guard request.header("Content-Type") == "application/offset+octet-stream" else { return Self.status(415) }
        return ScriptedAnswer([
            .readBody,
            .then { whole in
                let kept = self.state.withLock { state in
                    state.uploads[path]?.bytes += whole.body
                    return state.uploads[path]?.bytes.count ?? 0
                }
                return Self.status(201, location + [("Upload-Offset", "\(kept)")])
            },
        ])
    }

    private func offset(_ request: ReceivedRequest) -> ScriptedAnswer {
        let status = state.withLock { $0.faults.heads.isEmpty ? nil : $0.faults.heads.removeFirst() }
        if let status { return Self.status(status, state.withLock(\.faults.headFields)) }
        let found = state.withLock { state in
            state.uploads[request.path]?.owner = request.number
            return state.uploads[request.path]
        }
        guard let upload = found else { return Self.status(404) }
        return Self.status(
            200, [("Upload-Offset", "\(upload.bytes.count)"), ("Upload-Length", "\(upload.length)")] + expiration)
    }

    private func append(_ request: ReceivedRequest) -> ScriptedAnswer {
        let offset = request.header("Upload-Offset").flatMap { Int($0) }
        let refusal = state.withLock { state -> Int? in
            guard let upload = state.uploads[request.path] else { return 404 }
            if request.header("Content-Type") != "application/offset+octet-stream" { return 415 }
            if !state.faults.refusals.isEmpty { return state.faults.refusals.removeFirst() }
            if let limit = state.faults.appendLimit, request.contentLength > limit { return 413 }
            guard offset == upload.bytes.count else { return 409 }
            state.uploads[request.path]?.owner = request.number
            return nil
        }
        if let refusal {
            return .status(refusal, headers: state.withLock(\.faults.givesNoPause) ? [] : [("Retry-After", "0")])
        }
        let isTaken = state.withLock { state in
            state.faults.strangers -= 1
            return state.faults.strangers >= 0
        }
        if isTaken { return ScriptedAnswer([.readBody, .send(200, [], Array("<html>".utf8))]) }
        let cut = state.withLock {
            $0.faults.lineLimit ?? ($0.faults.cuts.isEmpty ? nil : $0.faults.cuts.removeFirst())
        }
        if let cut, cut < request.contentLength {
            return ScriptedAnswer([
                .read(cut),
                .then { part in
                    if !self.state.withLock(\.faults.keepsNothing) { self.keep(part.body, from: request) }
                    return ScriptedAnswer([.reset])
                },
            ])
        }
        if state.withLock(\.faults.forgets) {
            return ScriptedAnswer([.readBody, .send(204, [("Upload-Offset", "\(offset ?? 0)")], [])])
        }
        // What is checked as a whole is kept as a whole.
        guard request.header("Upload-Checksum") == nil else {
            return ScriptedAnswer([
                .readBody,
                .then { whole in
                    if let refusal = self.checked(whole) { return Self.status(refusal) }
                    self.keep(whole.body, from: request)
                    return self.taken(request)
                },
            ])
        }
        return .stretches(of: request) {
            self.keep($0, from: request)
        } then: { _ in
            self.taken(request)
        }
    }

    private func taken(_ request: ReceivedRequest) -> ScriptedAnswer {
        let count = state.withLock { state -> Int? in
            guard let upload = state.uploads[request.path], upload.owner == request.number else { return nil }
            guard upload.bytes.count == upload.length, state.faults.lostAnswers > 0 else { return upload.bytes.count }
            state.faults.lostAnswers -= 1
            return nil
        }
        return count.map { Self.status(204, [("Upload-Offset", "\($0)")]) } ?? ScriptedAnswer([.reset])
    }

    /// 460 for bytes that are not those of their checksum.
    private func checked(_ request: ReceivedRequest) -> Int? {
        guard let field = request.header("Upload-Checksum") else { return nil }
        return state.withLock { state in
            state.uploads[request.path]?.checksums.append(field)
            if state.faults.damages > 0 {
                state.faults.damages -= 1
                return 460
            }
            let words = field.split(separator: " ")
            let digest = Base64Bytes.encode(SHA256.hash(data: request.body))
            return words.first == "sha256" && words.last.map(String.init) == digest ? nil : 460
        }
    }

    private func keep(_ bytes: [UInt8], from request: ReceivedRequest) {
        state.withLock { state in
            guard state.uploads[request.path]?.owner == request.number else { return }
            state.uploads[request.path]?.bytes += bytes
        }
    }
}
