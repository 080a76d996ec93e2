import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// A decorator that is a program: it sees method, URL and headers, of the body size, type and digest, and may change
/// the first three. It is asked once for each request that is sent.
struct ProgramDecorator: RequestDecorator {
    let program: PluginProgram
    let configuration: JSON
    /// True if the configuration holds secrets: then what the program adds stays with the service's origin.
    let isSecret: Bool
    /// True if the program wants the digest of the body, for which a file is read once more.
    let wantsDigest: Bool
    let settings: PluginSettings

    var phase: DecorationPhase { .shape }

    func decorate(
        _ request: inout RequestDescription, in context: DecorationContext
    ) async throws(RequestFailure) {
        let question: JSON = [
            "type": "decorate", "protocol": .number(JSONNumber(PluginProtocol.version)),
            "configuration": configuration, "key": .string(context.key),
            "attempt": .number(JSONNumber(context.attempt)), "request": try shown(request),
        ]
        let change: DecoratedRequest
        do throws(ProgramQuestion.Failure) {
            change = try await ProgramQuestion(program: program, settings: settings).ask(question) { message in
                if case .decorated(let change) = message { change } else { nil }
            }
        } catch {
            let hint = error.hint.map { " (\($0))" } ?? ""
            throw RequestFailure(error.message + hint, isRetryable: error.isRetryable)
        }
        try apply(change, to: &request)
    }

    private func shown(_ request: RequestDescription) throws(RequestFailure) -> JSON {
        let headers = request.headers.map { field -> JSON in
            ["name": .string(field.name.rawName), "value": .string(field.value)]
        }
        return [
            "method": .string(request.method.rawValue), "url": .string(try request.absoluteURL()),
            "headers": .array(headers), "body": try body(of: request),
        ]
    }

    private func body(of request: RequestDescription) throws(RequestFailure) -> JSON {
        guard !request.body.isNone else { return .null }
        let digest = wantsDigest ? try request.body.sha256()?.hex : nil
        var type = request.headers[.contentType]
        if case .multipart(let body) = request.body { type = body.contentType }
        return ["size": .number(JSONNumber(Int(request.body.length))), "type": JSON(type), "sha256": JSON(digest)]
    }

    private func apply(
        _ change: DecoratedRequest, to request: inout RequestDescription
    ) throws(RequestFailure) {
        if let method = change.method {
            guard let method = HTTPRequest.Method(method) else {
                throw RequestFailure("the decorator '\(program.name)' gave a method that is none")
            }
            request.method = method
        }
        if let url = change.url {
            // The whole URL was shown, so that the whole URL comes back.
            request.url = url
            request.query = []
            _ = try request.absoluteURL()
        }
        guard let headers = change.headers else { return }
        let before = Set(request.headers.map { "\($0.name.canonicalName):\($0.value)" })
        var fields = HTTPFields()
        for (name, value) in headers {
            let field = try HTTPField.checked(name: name, value: value)
            fields.append(field)
            let isNew = !before.contains("\(field.name.canonicalName):\(field.value)")
            if isSecret, isNew { request.credentialFields.insert(field.name) }
        }
        request.headers = fields
    }
}

/// The changes of a decorator's program; nil leaves it as it is.
struct DecoratedRequest: Sendable {
    let method: String?
    let url: String?
    /// All of them, in order.
    let headers: [(name: String, value: String)]?

    init(_ message: JSONObject, _ line: ArraySlice<UInt8>) throws(PluginFault) {
        guard let request = message["request"]?.object else {
            throw PluginMessage.nonsense("'decorated' without an object as its \"request\"", line)
        }
        method = try Self.text(request["method"], "method", line)
        url = try Self.text(request["url"], "url", line)
        headers = try Self.headers(request["headers"], line)
    }

    private static func text(
        _ value: JSON?, _ name: String, _ line: ArraySlice<UInt8>
    ) throws(PluginFault) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let text = value.string, !text.isEmpty else {
            throw PluginMessage.nonsense("'decorated' with a \"\(name)\" that is no text", line)
        }
        return text
    }

    private static func headers(
        _ value: JSON?, _ line: ArraySlice<UInt8>
    ) throws(PluginFault) -> [(name: String, value: String)]? {
        guard let value, !value.isNull else { return nil }
        var headers: [(name: String, value: String)] = []
        for entry in value.array ?? [.null] {
            guard let name = entry["name"]?.string, let text = entry["value"]?.string else {
                throw PluginMessage.nonsense(
                    "'decorated' with \"headers\" that are no array of { \"name\", \"value\" }", line)
            }
            headers.append((name, text))
        }
        return headers
    }
}
