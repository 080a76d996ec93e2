import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import Synchronization

/// Makes the record of one exchange: takes the request as it goes out, then what came of it, and redacts both.
final class ExchangeRecording: Sendable {
    /// The number of bytes of a body that are looked at: a little more than is kept, as a secret may stand across the
    /// end.
    static let sampled = RecordedBody.limit + 4096
    /// The text in the place of one that is not to be shown.
    private static let redacted = "‹redacted›"

    private let built = Mutex<RequestDescription?>(nil)
    private let started: Timestamp

    init(started: Timestamp) { self.started = started }

    /// Takes the request as the decorators left it.
    func take(_ request: RequestDescription) { built.withLock { $0 = request } }

    /// The record; nil when nothing was about to be sent.
    func record<Checkpoint>(
        _ result: Result<HTTPExchangeResponse, ExchangeFailure>, in context: StageContext<Checkpoint>
    ) -> ExchangeRecord? {
        guard let request = built.withLock({ $0 }) else { return nil }
        var record = ExchangeRecord(
            step: context.facts.step, attempt: context.facts.attempt, started: started,
            method: request.method.rawValue, url: context.redact(request.url),
            headers: Self.fields(request, context), body: Self.body(request, context))
        switch result {
        case .success(let response): record.answer = Self.answer(response, context)
        case .failure(let failure): record.failure = context.redact(failure.message)
        }
        return record
    }

    /// Credentials are never kept, also those that no secret of the document made.
    private static func fields<Checkpoint>(
        _ request: RequestDescription, _ context: StageContext<Checkpoint>
    ) -> [NamedText] {
        var fields = request.headers.map { field in
            let value = context.redact(field.value)
            let isBare = value == field.value && request.isCredential(field.name)
            return NamedText(field.name.rawName, isBare ? hidden(value) : value)
        }
        if case .multipart(let body) = request.body, request.headers[.contentType] == nil {
            fields.append(NamedText("Content-Type", body.contentType))
        }
        return fields
    }

    /// The scheme of a credential stays: `Bearer ‹redacted›`.
    private static func hidden(_ value: String) -> String {
        let scheme = value.prefix { $0 != " " }
        return scheme.count < value.count && scheme.count <= 10 ? "\(scheme) \(redacted)" : redacted
    }

    private static func body<Checkpoint>(
        _ request: RequestDescription, _ context: StageContext<Checkpoint>
    ) -> RecordedBody? {
        let type = request.headers[.contentType]
        switch request.body {
        case .none: return nil
        case .bytes(let bytes):
            return recorded(covered(text(bytes, of: bytes.count, context), of: request), of: Int64(bytes.count), type)
        case .file(let path, let offset, let length):
            return recorded(
                start(of: request, context), of: length, type, file: offset == 0 ? context.redact(path) : nil)
        case .multipart(let form):
            return recorded(start(of: request, context), of: request.body.length, form.contentType)
        case .pieces: return recorded(start(of: request, context), of: request.body.length, type)
        case .gzip: return RecordedBody(size: request.body.length, type: type)
        }
    }

    private static func answer<Checkpoint>(
        _ response: HTTPExchangeResponse, _ context: StageContext<Checkpoint>
    ) -> ExchangeRecord.ServiceResponse {
        let times = response.timings
        let fields = response.headers.map { field in
            let isCookie = field.name == .setCookie
            return NamedText(field.name.rawName, isCookie ? redacted : context.redact(field.value))
        }
        let size = max(response.bytesReceived, Int64(response.body.count))
        // What is in memory is all of it, however many bytes it took on its way.
        let (start, whole) =
            response.body.isEmpty ? (response.sample, Int(size)) : (response.body, response.body.count)
        return ExchangeRecord.ServiceResponse(
            status: response.status, version: response.version, headers: fields,
            body: answerBody(start, of: whole, size: size, response.headers[.contentType], context),
            timings: ExchangeRecord.Timings(
                nameLookup: times.nameLookup, connect: times.connect, tls: times.tls, sent: times.sent,
                firstByte: times.firstByte,
                total: times.total))
    }

    private static func answerBody<Checkpoint>(
        _ start: [UInt8], of whole: Int, size: Int64, _ type: String?, _ context: StageContext<Checkpoint>
    ) -> RecordedBody {
        if start.isEmpty { return RecordedBody(size: size, type: type) }
        if let text = text(start, of: whole, context) { return recorded(text, of: size, type) }
        let isWhole = Int64(start.count) == size && start.count <= RecordedBody.limit
        return RecordedBody(size: size, type: type, base64: isWhole ? base64(start, context) : nil)
    }

    /// A body that is no text; nil when a secret stands in it, plain or encoded: what is left could not be read anyway.
    private static func base64<Checkpoint>(_ bytes: [UInt8], _ context: StageContext<Checkpoint>) -> String? {
        let readable = String(decoding: bytes, as: UTF8.self)
        guard context.redact(readable) == readable else { return nil }
        let text = Base64Bytes.encode(bytes)
        return context.redact(text) == text ? text : nil
    }

    /// Returns what a person would see of a body that is read from files while it is sent.
    private static func start<Checkpoint>(
        of request: RequestDescription, _ context: StageContext<Checkpoint>
    ) -> Text? {
        guard let bytes = try? request.body.prefix(sampled), !bytes.isEmpty else { return nil }
        return covered(text(bytes, of: Int(request.body.length), context), of: request)
    }

    /// A body that is made from a secret, but does not hold it as it is: what is there may be a part of it. Of JSON the
    /// names stay.
    private static func covered(_ text: Text?, of request: RequestDescription) -> Text? {
        guard var text, text.isBare, request.bodyHoldsSecret else { return text }
        text.text = (try? JSON.parse(Array(text.text.utf8))).map { covered($0).text } ?? redacted
        return text
    }

    private static func covered(_ value: JSON) -> JSON {
        switch value {
        case .null, .bool: value
        case .string, .number: .string(redacted)
        case .array(let elements): .array(elements.map { covered($0) })
        case .object(let members): .object(JSONObject(members.map { ($0.name, covered($0.value)) }))
        }
    }

    private static func recorded(_ text: Text?, of size: Int64, _ type: String?, file: String? = nil) -> RecordedBody {
        RecordedBody(size: size, type: type, text: text?.text, isCut: text?.isCut, file: file)
    }

    /// The first of a text without secrets, and whether that is not all of it.
    private struct Text {
        var text: String
        let isCut: Bool
        /// True if no secret was found in it.
        let isBare: Bool
    }

    /// The first of a text of that many bytes, redacted before it is cut, so that no half of a secret remains.
    private static func text<Checkpoint>(
        _ bytes: [UInt8], of count: Int, _ context: StageContext<Checkpoint>
    ) -> Text? {
        let first = bytes.prefix(sampled)
        let readable = first.dropLast(incomplete(first))
        guard first.allSatisfy(mayStandInText), let whole = String(validating: readable, as: UTF8.self) else {
            return nil
        }
        let redacted = context.redact(whole)
        // Redacting can make it shorter than the limit; at its end may still stand what is left of a secret.
        let end =
            first.count < sampled ? redacted.utf8.count : max(0, redacted.utf8.count - (sampled - RecordedBody.limit))
        guard end < redacted.utf8.count || end > RecordedBody.limit else {
            return Text(text: redacted, isCut: readable.count < count, isBare: redacted == whole)
        }
        return Text(
            text: String(decoding: redacted.utf8.prefix(min(end, RecordedBody.limit)), as: UTF8.self), isCut: true,
            isBare: redacted == whole)
    }

    /// Control characters make a body binary, but for those that lay out texts: backspace to carriage return, and escape.
    private static func mayStandInText(_ byte: UInt8) -> Bool { byte >= 0x20 || (8...13).contains(byte) || byte == 27 }

    /// Returns how many bytes at the end begin a character that goes on behind it.
    private static func incomplete(_ bytes: ArraySlice<UInt8>) -> Int {
        for (count, byte) in bytes.reversed().prefix(3).enumerated() {
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return count + 1 < length ? count + 1 : 0
        }
        return 0
    }
}
