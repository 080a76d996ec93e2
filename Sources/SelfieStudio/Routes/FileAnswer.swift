import FoundationEssentials
import HTTPTypes

/// Answers a GET for a file of a finished model, with conditions and ranges: RFC 9110 §13.2.2 and §14.
struct FileAnswer {
    var model: String
    var file: ModelFile
    var path: String
    var sha256: String
    var size: Int

    /// Strong: made from the bytes.
    var entityTag: String { "\"\(sha256.prefix(32))\"" }

    func answer(_ request: HTTPRequest) -> Answer {
        let fields = request.headerFields
        if let match = fields[.ifMatch], !Self.matches(match, entityTag) {
            return Answer(Problem(status: .preconditionFailed, detail: "the file has another entity tag"))
        }
        if let match = fields[.ifNoneMatch], Self.matches(match, entityTag) {
            return Answer(.notModified, fields: common)
        }
        // A date never matches: no Last-Modified is sent (§13.1.5).
        let honoursRange = request.method == .get && (fields[.ifRange].map { $0 == entityTag } ?? true)
        switch ByteRange(honoursRange ? fields[.range] : nil, size: size) {
        case .whole: return send(0..<size, status: .ok)
        case .part(let range): return send(range, status: .partialContent)
        case .unsatisfiable:
            var answer = Answer(Problem(status: .rangeNotSatisfiable, detail: "the file has \(size) bytes"))
            answer.fields[.contentRange] = "bytes */\(size)"
            return answer
        }
    }

    private var common: HTTPFields {
        [.eTag: entityTag, .acceptRanges: "bytes", .cacheControl: "private, max-age=3600"]
    }

    private func send(_ range: Range<Int>, status: HTTPResponse.Status) -> Answer {
        var fields = common
        fields[.contentType] = file.mediaType
        fields[.contentLength] = String(range.count)
        fields[.reprDigest] = Self.digestField(sha256)
        if status == .partialContent {
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
        }
        return Answer(status, fields: fields, body: .file(.init(path: path, range: range, model: model, file: file)))
    }

    /// `Repr-Digest` of RFC 9530 §3 from a digest in hex.
    static func digestField(_ hex: String) -> String {
        let digits = hex.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return "sha-256=:\(Data(bytes).base64EncodedString()):"
    }

    /// Weak tags of the list are compared without their mark: that is right for If-None-Match, and for If-Match
    /// no weak tag was ever given out.
    private static func matches(_ list: String, _ tag: String) -> Bool {
        list.split(separator: ",").contains { item in
            let item = item.trimmingSpaces
            return item == "*" || item == tag || item == "W/" + tag
        }
    }
}

extension HTTPField.Name {
    static let reprDigest = HTTPField.Name("Repr-Digest")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let uploadComplete = HTTPField.Name("Upload-Complete")!
    static let uploadDraftInteropVersion = HTTPField.Name("Upload-Draft-Interop-Version")!
}
