import HTTPTypes
import PipelineCore
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
        /// Makes the object of so many completions when the client is gone, and still lists their parts.
        var lateCompletions = 0
        /// Somebody else makes an object when the next completion comes.
        var foreignObject: [UInt8]?
        /// Statuses of the next answers to parts.
        var refusals: [Int] = []
        /// Statuses of the next answers to completions.
        var ends: [Int] = []
        /// So many lists are answered by somebody else on the way, with a page.
        var strangers = 0
        /// So many parts come with a signature that is too old.
        var outdated = 0
        /// What it says to lists instead.
        var lists: Int?
        /// So many parts come with a token that has ended.
        var expired = 0
        /// Statuses of the next answers to cancellations.
        var cancels: [Int] = []
        /// Removes an upload when so many completions come.
        var removals = 0
        /// The next completion removes the upload and goes on when the client is gone: the object is there when it is
        /// looked for so many times; zero for one that is there at once.
        var looksUntilMade = 0
    }

    struct State: Sendable {
        var faults: Faults
        var uploads: [String: [Int: [UInt8]]] = [:]
        var object: [UInt8]?
        var tag = ""
        /// When the object was made.
        var made = StorageService.now
        var created = 0
        /// Of parts, as they came.
        var checksums: [Int: String] = [:]
        /// The body of the last completion.
        var completion = ""
        var running = 0
        var mostRunning = 0
        /// An object that is being put together.
        var late: (looks: Int, object: [UInt8], tag: String)?

        /// Looks for the object.
        mutating func look() {
            guard let (looks, made, itsTag) = late else { return }
            late = looks > 1 ? (looks: looks - 1, object: made, tag: itsTag) : nil
            if late == nil { (object, tag) = (made, itsTag) }
        }
    }

    /// Its clock is of another year, and stands.
    static let now = Timestamp(milliseconds: 1_000_000_000_000)

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
                    state.look()
                    guard let object = state.object else { return .status(404) }
                    return ScriptedAnswer([
                        .head(
                            200,
                            [
                                ("Content-Length", "\(object.count)"), ("ETag", state.tag),
                                ("Last-Modified", state.made.httpDate),
                            ])
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
        case "GET":
            if let status = state.withLock(\.faults.lists) { return .status(status) }
            return list(parts, after: Int(query["part-number-marker"] ?? "") ?? 0)
        case "DELETE":
            let status = state.withLock { state in
                if !state.faults.cancels.isEmpty { return state.faults.cancels.removeFirst() }
                state.uploads[id] = nil
                return 204
            }
            return .status(status)
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
            200, headers: [("Date", Self.now.httpDate)],
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
        let isExpired = state.withLock { state in
            state.faults.expired -= 1
            return state.faults.expired >= 0
        }
        if isExpired {
            return ScriptedAnswer([
                .readBody, .then { _ in .status(400, body: "<Error><Code>ExpiredToken</Code></Error>") },
            ])
        }
        let isOutdated = state.withLock { state in
            state.faults.outdated -= 1
            return state.faults.outdated >= 0
        }
        if isOutdated {
            return ScriptedAnswer([
                .readBody, .then { _ in .status(403, body: "<Error><Code>RequestTimeTooSkewed</Code></Error>") },
            ])
        }
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
                let payload = whole.header("X-Amz-Content-Sha256")
                self.state.withLock { $0.running -= 1 }
                guard payload == TransferFolder.sha256(whole.body) else {
                    return .status(400, body: "<Error><Code>XAmzContentSHA256Mismatch</Code></Error>")
                }
                self.state.withLock { state in
                    state.uploads[id]?[number] = whole.body
                    state.checksums[number] = whole.header("x-amz-checksum-sha256")
                }
                return .status(200, headers: [("ETag", "\"part&\(number)\"")])
            },
        ])
    }

    private func list(_ parts: [Int: [UInt8]], after marker: Int) -> ScriptedAnswer {
        let isTaken = state.withLock { state in
            state.faults.strangers -= 1
            return state.faults.strangers >= 0
        }
        if isTaken { return .status(200, body: "<html><body>Welcome</body></html>") }
        let page = parts.sorted { $0.key < $1.key }.filter { $0.key > marker }
        let shown = page.prefix(state.withLock(\.faults.page))
        let sums = state.withLock(\.checksums)
        let texts = shown.map { number, bytes in
            let sum = sums[number].map { "<ChecksumSHA256>\($0)</ChecksumSHA256>" } ?? ""
            return "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;part&amp;\(number)&quot;</ETag>"
                + "\(sum)<Size>\(bytes.count)</Size></Part>"
        }
        return .status(
            200,
            body: "<ListPartsResult><NextPartNumberMarker>\(shown.last?.key ?? 0)</NextPartNumberMarker>"
                + "<IsTruncated>\(shown.count < page.count)</IsTruncated>\(texts.joined())</ListPartsResult>")
    }

    private func complete(_ request: ReceivedRequest, _ id: String) -> ScriptedAnswer {
        let answer = state.withLock { state -> ScriptedAnswer in
            if !state.faults.ends.isEmpty {
                return .status(state.faults.ends.removeFirst(), headers: [("Retry-After", "0")])
            }
            if state.faults.removals > 0 {
                state.faults.removals -= 1
                state.uploads[id] = nil
                return .status(404, body: "<Error><Code>NoSuchUpload</Code><Message>gone</Message></Error>")
            }
            if !state.faults.hiddenErrors.isEmpty {
                let code = state.faults.hiddenErrors.removeFirst()
                return .status(200, body: "  <Error><Code>\(code)</Code><Message>no way</Message></Error>")
            }
            let parts = (state.uploads[id] ?? [:]).sorted { $0.key < $1.key }
            let named = parts.map { number, _ in
                let sum = state.checksums[number].map { "<ChecksumSHA256>\($0)</ChecksumSHA256>" } ?? ""
                return
                    "<Part><PartNumber>\(number)</PartNumber><ETag>&quot;part&amp;\(number)&quot;</ETag>\(sum)</Part>"
            }
            state.completion = request.text
            if let foreign = state.faults.foreignObject {
                state.faults.foreignObject = nil
                (state.object, state.tag) = (foreign, "\"foreign\"")
            }
            if state.object != nil, request.header("If-None-Match") == "*" {
                return .status(412, body: "<Error><Code>PreconditionFailed</Code><Message>it exists</Message></Error>")
            }
            guard request.text.contains(named.joined() + "</CompleteMultipartUpload>") else {
                return .status(400, body: "<Error><Code>InvalidPart</Code></Error>")
            }
            if state.faults.looksUntilMade > 0 {
                let tag = "\"abc-\(parts.count)\""
                state.late = (looks: state.faults.looksUntilMade, object: parts.flatMap(\.value), tag: tag)
                state.faults.looksUntilMade = 0
                state.made = Self.now
                state.uploads[id] = nil
                return ScriptedAnswer([.reset])
            }
            state.object = parts.flatMap(\.value)
            state.made = Self.now
            state.tag = "\"abc-\(parts.count)\""
            if state.faults.lateCompletions > 0 {
                state.faults.lateCompletions -= 1
                return ScriptedAnswer([.reset])
            }
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
