import JSONPath
import PipelineCore

/// Exchanges as an HTTP Archive, version 1.2 (http://www.softwareishard.com/blog/har-12-spec/), which browsers' developer
/// tools open.
struct HTTPArchive {
    let records: [ExchangeRecord]

    var json: JSON {
        [
            "log": [
                "version": "1.2",
                "creator": ["name": "pipeline", "version": .string(ProgramVersion.number)],
                "entries": .array(records.map { Self.entry($0) }),
            ]
        ]
    }

    private static func entry(_ record: ExchangeRecord) -> JSON {
        let times = timings(record.answer?.timings)
        let label = record.step.description + (record.attempt > 1 ? ", attempt \(record.attempt)" : "")
        return [
            "startedDateTime": .string(record.started.description), "time": .number(JSONNumber(times.total)),
            "request": request(record), "response": response(record), "cache": [:], "timings": times.json,
            "comment": .string(record.failure.map { "\(label): \($0)" } ?? label),
        ]
    }

    private static func request(_ record: ExchangeRecord) -> JSON {
        var request: JSONObject = [
            "method": .string(record.method), "url": .string(record.url), "httpVersion": .string(version(record)),
            "cookies": [], "headers": fields(record.headers), "queryString": query(of: record.url), "headersSize": -1,
            "bodySize": .number(JSONNumber(Int(record.body?.size ?? 0))),
        ]
        if let body = record.body, body.size > 0 {
            var data: JSONObject = [
                "mimeType": .string(body.type ?? "application/octet-stream"), "params": [],
                "text": .string(body.text ?? ""),
            ]
            if let note = note(of: body) { data["comment"] = .string(note) }
            request["postData"] = .object(data)
        }
        return .object(request)
    }

    private static func response(_ record: ExchangeRecord) -> JSON {
        let answer = record.answer
        let location = answer?.headers.first { $0.name.lowercased() == "location" }?.value ?? ""
        var content: JSONObject = [
            "size": .number(JSONNumber(Int(answer?.body.size ?? 0))),
            "mimeType": .string(answer?.body.type ?? "x-unknown"),
        ]
        if let body = answer?.body {
            if let text = body.text { content["text"] = .string(text) }
            if let base64 = body.base64 {
                content["text"] = .string(base64)
                content["encoding"] = "base64"
            }
            if let note = note(of: body) { content["comment"] = .string(note) }
        }
        return [
            "status": .number(JSONNumber(answer?.status ?? 0)), "statusText": "",
            "httpVersion": .string(version(record)),
            "cookies": [], "headers": fields(answer?.headers ?? []), "content": .object(content),
            "redirectURL": .string(location), "headersSize": -1,
            "bodySize": .number(JSONNumber(Int(answer?.body.size ?? -1))),
        ]
    }

    /// Of an exchange that came to no answer it is not known what would have been spoken.
    private static func version(_ record: ExchangeRecord) -> String {
        guard let version = record.answer?.version, !version.isEmpty else { return "unknown" }
        return version
    }

    private static func note(of body: RecordedBody) -> String? {
        if let file = body.file { return "the file \(file)" + (body.isWhole ? "" : ", \(body.size) bytes") }
        if body.size == 0 || body.isWhole { return nil }
        return body.text == nil ? "the body is not kept" : "the first of \(body.size) bytes"
    }

    /// Milliseconds of each phase; -1 for what did not take place. libcurl's times each count all before them.
    private static func timings(_ times: ExchangeRecord.Timings?) -> (total: Double, json: JSON) {
        guard let times else {
            return (0, ["blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 0, "receive": 0])
        }
        let connected = max(times.connect, times.tls, times.nameLookup)
        let first = max(times.firstByte, connected)
        func milliseconds(_ seconds: Double) -> JSON { .number(JSONNumber((max(0, seconds) * 1e6).rounded() / 1e3)) }
        let hasConnected = times.connect > times.nameLookup
        let begun = hasConnected ? connected : 0
        let sent = min(max(times.sent, begun), first)
        return (
            (times.total * 1e6).rounded() / 1e3,
            [
                "blocked": -1, "dns": hasConnected ? milliseconds(times.nameLookup) : -1,
                "connect": hasConnected ? milliseconds(connected - times.nameLookup) : -1,
                "ssl": times.tls > 0 ? milliseconds(times.tls - times.connect) : -1,
                "send": milliseconds(sent - begun), "wait": milliseconds(first - sent),
                "receive": milliseconds(max(times.total, first) - first),
            ]
        )
    }

    private static func fields(_ fields: [NamedText]) -> JSON {
        .array(fields.map { ["name": .string($0.name), "value": .string($0.value)] })
    }

    private static func query(of url: String) -> JSON {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let pairs = PercentEncoding.pairs(url[url.index(after: mark)...].prefix { $0 != "#" })
        return .array(pairs.map { ["name": .string(String($0.name)), "value": .string(String($0.value))] })
    }
}
