import FoundationEssentials
import HTTPTypes

/// A whole answer, as a value: the connection only sends it.
struct Answer: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(FileSlice)
    }

    /// A part of a model's file on disk.
    struct FileSlice: Equatable, Sendable {
        var path: String
        var range: Range<Int>
        /// Whose file it is and which, for counters and faults.
        var model: String
        var file: ModelFile
    }

    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: Body
    /// The connection is closed instead.
    var isLost = false

    init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A JSON answer; members are sorted by name.
    init(_ status: HTTPResponse.Status, json value: some Encodable, fields: HTTPFields = [:]) {
        self.init(status, fields: fields)
        fill(with: value, type: "application/json")
    }

    init(_ problem: Problem) {
        self.init(problem.status, fields: problem.fields)
        let title = problem.status.reasonPhrase
        let details = ProblemDetails(title: title, status: problem.status.code, detail: problem.detail)
        fill(with: details, type: "application/problem+json")
    }

    /// The answer without its body, as an answer to HEAD (RFC 9110 §9.3.2).
    var withoutBody: Answer {
        var answer = self
        answer.body = .none
        return answer
    }

    private mutating func fill(with value: some Encodable, type: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding fails for infinite numbers only, and no answer has numbers that can be.
        let bytes = (try? encoder.encode(value)).map { Array($0) + [UInt8(ascii: "\n")] } ?? []
        fields[.contentType] = type
        fields[.contentLength] = String(bytes.count)
        body = .bytes(bytes)
    }
}

private struct ProblemDetails: Encodable {
    var type = "about:blank"
    var title: String
    var status: Int
    var detail: String
}
