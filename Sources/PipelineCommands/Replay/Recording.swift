import JSONPath
import PipelineCore
import PipelineKit

/// The exchanges of one real run, read from an HTTP Archive (HAR 1.2), with what the run started from.
struct Recording: Sendable {
    /// One request with its response.
    struct Exchange: Sendable {
        /// The step that sent it, as the archive says; empty when it does not.
        let step: String
        let method: String
        let url: String
        let headers: [NamedText]
        /// The first of the body; empty for none and for one that is no text.
        let body: String
        let bodySize: Int64
        /// Zero when no response came.
        let status: Int
        let responseHeaders: [NamedText]
        let response: [UInt8]
        let responseSize: Int64
        /// The stage that a service called, for a request that came from there.
        let callback: String?

        /// The name that it has in a report.
        var title: String { (step.isEmpty ? "" : "\(step): ") + "\(method) \(url)" }
    }

    let path: String
    let exchanges: [Exchange]
    /// The facts that `--record` adds under `_pipeline`: all of it may be missing in an archive of another tool.
    let facts: JSONObject

    /// The file's name without its ending.
    var name: String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return file.hasSuffix(".har") ? String(file.dropLast(4)) : file
    }

    var inputs: JSONObject { facts["inputs"]?.object ?? [:] }
    var environment: [String: String] {
        Dictionary(
            (facts["environment"]?.object ?? [:]).compactMap { member in
                member.value.string.map { (member.name, $0) }
            }, uniquingKeysWith: { $1 })
    }
    var started: Timestamp {
        facts["started"]?.string.flatMap { try? Timestamp.parse($0) } ?? Timestamp(milliseconds: 1_790_000_000_000)
    }
    var job: JobID { JobID(facts["job"]?.string ?? "01k00000000000000000000000") }
    var key: String? { facts["key"]?.string }
    /// The end of the job.
    var end: String { facts["end"]?.string ?? "succeeded" }
    /// The digests of the files that it wrote, by name; nil when the archive does not say.
    var files: [String: String]? {
        facts["files"]?.object.map { files in
            Dictionary(files.compactMap { file in file.value.string.map { (file.name, $0) } }, uniquingKeysWith: { $1 })
        }
    }

    init(path: String) throws {
        guard let bytes = FileContent.bytes(path, limit: 512 << 20) else {
            throw CommandError(.invalid, "cannot read \(path): \(FileContent.reason)", hint: "check --exchanges")
        }
        guard let log = try? JSON.parse(bytes)["log"], let entries = log["entries"]?.array else {
            throw CommandError(
                .invalid, "\(path) is no HTTP Archive: it has no \"log\" with \"entries\"",
                hint: "'pipeline test FILE --record DIR' makes one; browsers export them too")
        }
        self.path = path
        exchanges = entries.map { Self.exchange($0) }
        facts = log["_pipeline"]?.object ?? [:]
    }

    private static func exchange(_ entry: JSON) -> Exchange {
        let (request, response) = (entry["request"], entry["response"])
        let content = response?["content"]
        let text = content?["text"]?.string ?? ""
        let bytes = content?["encoding"]?.string == "base64" ? Base64Bytes.decode(text) ?? [] : Array(text.utf8)
        let label = entry["comment"]?.string ?? ""
        let step = label.prefix { $0 != "," && $0 != ":" }
        return Exchange(
            step: String(step), method: request?["method"]?.string ?? "GET", url: request?["url"]?.string ?? "",
            headers: fields(request), body: request?["postData"]?["text"]?.string ?? "",
            bodySize: Int64(request?["bodySize"]?.number?.int ?? 0), status: response?["status"]?.number?.int ?? 0,
            responseHeaders: fields(response), response: bytes,
            responseSize: Int64(content?["size"]?.number?.int ?? bytes.count), callback: entry["_callback"]?.string)
    }

    private static func fields(_ message: JSON?) -> [NamedText] {
        (message?["headers"]?.array ?? []).compactMap { field in
            guard let name = field["name"]?.string, let value = field["value"]?.string else { return nil }
            return NamedText(name, value)
        }
    }
}
