import HTTPTypes
import PipelineTestKit
import Synchronization

/// A service that takes objects as S3 does, and misbehaves as told.
final class StorageService: LoopbackService {
    struct Faults: Sendable {
        /// Cuts so many parts, after 1 MB of each.
        var cuts = 0
        /// How many parts stand on a page of a list.
        var page = 1000
        /// Bodies under 200 with which the next completions fail.
        var hiddenErrors: [String] = []
        /// Completes so many times and says nothing.
        var lostAnswers = 0
        /// Statuses of the next answers to parts.
        var refusals: [Int] = []
    }

    struct State: Sendable {
        var faults: Faults
        var uploads: [String: [Int: [UInt8]]] = [:]
        var object: [UInt8]?
        var tag = ""
        var created = 0
        var running = 0
        var mostRunning = 0
    }

    let state: Mutex<State>
    let server = ServiceServer()

    init(_ faults: Faults = Faults()) throws {
        state = Mutex(State(faults: faults))
        try server.start(for: self)
    }

    var lines: [String] { requests.map { "\($0.method) \($0.target)" } }
    var received: Int64 { requests.filter { $0.method == "PUT" }.reduce(0) { $0 + $1.bodyCount } }
    var object: [UInt8]? { state.withLock(\.object) }

    private static func parameters(_ request: ReceivedRequest) -> [String: String] {
        let query = request.target.drop { $0 != "?" }.dropFirst()
        let pairs = query.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(halves[0]), halves.count > 1 ? String(halves[1]) : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }

    func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard request.header("Authorization")?.hasPrefix("AWS4-HMAC-SHA256 ") == true else { return .status(403) }
        let query = Self.parameters(request)
        guard let id = query["uploadId"] else {
            switch request.method {
            case "POST" where query["uploads"] != nil: return create()
            case "PUT": return put(request)
            case "HEAD":
                return state.withLock { state in
                    guard let object = state.object else { return .status(404) }
                    return ScriptedAnswer([
                        .head(200, [("Content-Length", "\(object.count)"), ("ETag", state.tag)])
                    ])
                }
            default: return .status(400)
            }
        }
        guard let parts = state.withLock({ $0.uploads[id] }) else {
            return .status(404, body: "<Error><Code>NoSuchUpload</Code><Message>gone</Message></Error>")
        }
        switch request.method {
        case "PUT": return part(request, id, Int(query["partNumber"] ?? "") ?? 0)
        case "GET": return list(parts, after: Int(query["part-number-marker"] ?? "") ?? 0)
        case "DELETE":
            state.withLock { $0.uploads[id] = nil }
            return .status(204)
        default: return ScriptedAnswer([.readBody, .then { self.complete($0, id) }])
        }
    }

    private func create() -> ScriptedAnswer {
        let id = state.withLock { state in
            state.created += 1
            state.uploads["u\(state.created)"] = [:]
            return "u\(state.created)"
        }
        return .status(
            200,
            body: "<?xml version=\"1.0\"?><InitiateMultipartUploadResult xmlns=\"x\"><UploadId>\(id)</UploadId>"
                + "</InitiateMultipartUploadResult>")
    }

    private func put(_ request: ReceivedRequest) -> ScriptedAnswer {
        ScriptedAnswer([
            .readBody,
            .then { whole in
                self.state.withLock { $0.object = whole.body }
                return .status(200, headers: [("ETag", "\"whole\"")])
            },
        ])
    }

    private func part(_ request: ReceivedRequest, _ id: String, _ number: Int) -> ScriptedAnswer {
        let (isCut, refusal) = state.withLock { state -> (Bool, Int?) in
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            if !state.faults.refusals.isEmpty { return (false, state.faults.refusals.removeFirst()) }
            state.faults.cuts -= 1
            return (state.faults.cuts >= 0, nil)
        }
        if let refusal { return .status(refusal, headers: [("Retry-After", "0")]) }
        if isCut { return .reset(afterRequestBytes: 1_000_000) }
        return ScriptedAnswer([
            .readBody,
            .then { whole in
                self.state.withLock { state in
                    state.uploads[id]?[number] = whole.body
                    state.running -= 1
                }
                return .status(200, headers: [("ETag", "\"part&\(number)\"")])
            },
        ])
    }

    private func list(_ parts: [Int: [UInt8]], after marker: Int) -> ScriptedAnswer {
        let page = parts.sorted { $0.key < $1.key }.filter { $0.key > marker }
        let shown = page.prefix(state.withLock(\.faults.page))
        let texts = shown.map { number, bytes in
            "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;part&amp;\(number)&quot;</ETag>"
                + "<Size>\(bytes.count)</Size></Part>"
        }
        return .status(
            200,
            body: "<ListPartsResult><NextPartNumberMarker>\(shown.last?.key ?? 0)</NextPartNumberMarker>"
                + "<IsTruncated>\(shown.count < page.count)</IsTruncated>\(texts.joined())</ListPartsResult>")
    }

    private func complete(_ request: ReceivedRequest, _ id: String) -> ScriptedAnswer {
        let answer = state.withLock { state -> ScriptedAnswer in
            if !state.faults.hiddenErrors.isEmpty {
                let code = state.faults.hiddenErrors.removeFirst()
                return .status(200, body: "  <Error><Code>\(code)</Code><Message>no way</Message></Error>")
            }
            let parts = (state.uploads[id] ?? [:]).sorted { $0.key < $1.key }
            let named = parts.map { number, _ in
                "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;part&amp;\(number)&quot;</ETag></Part>"
            }
            guard request.text.contains(named.joined() + "</CompleteMultipartUpload>") else {
                return .status(400, body: "<Error><Code>InvalidPart</Code></Error>")
            }
            state.object = parts.flatMap(\.value)
            state.tag = "\"abc-\(parts.count)\""
            state.uploads[id] = nil
            if state.faults.lostAnswers > 0 {
                state.faults.lostAnswers -= 1
                return ScriptedAnswer([.reset])
            }
            return .status(
                200,
                body: "\n <CompleteMultipartUploadResult><ETag>\"abc-\(parts.count)\"</ETag>"
                    + "</CompleteMultipartUploadResult>")
        }
        return answer
    }
}
