package import JSONPath

/// The failure of a step, as data: kept in the journal, shown to people, and given to programs as `error`.
///
/// It holds no secret: whoever makes one from an exchange redacts it first.
public struct StepFailure: Sendable, Hashable, Error {
    /// One sentence: what happened.
    public var title: String
    /// Advice on what the person can do next; nil when nothing sensible can be said.
    public var hint: String?
    /// The service's name in the document.
    public var service: String?
    /// Method and URL of the request, e.g. `POST http://127.0.0.1:8787/models`.
    public var request: String?
    /// The status of the answer; nil when there was none.
    public var status: Int?
    /// The start of the answer's body, at most some hundred characters.
    public var body: String?
    /// The place in the document, `FILE:LINE:COLUMN`, when the mistake is there.
    public var place: String?

    /// Says what went wrong.
    ///
    /// - Parameters:
    ///   - title: one sentence about what happened.
    ///   - hint: how to mend it.
    ///   - service: the name of the service that was asked.
    ///   - request: the method and the URL, redacted.
    ///   - status: the status of the response.
    ///   - body: the beginning of the response's body, redacted.
    ///   - place: where the stage stands: the file, the line and the column.
    public init(
        _ title: String, hint: String? = nil, service: String? = nil, request: String? = nil, status: Int? = nil,
        body: String? = nil, place: String? = nil
    ) {
        self.title = title
        self.hint = hint
        self.service = service
        self.request = request
        self.status = status
        self.body = body
        self.place = place
    }
}

extension StepFailure {
    /// True for what a wrong document may lead to: a response to a path, a method, credentials or a body that the service
    /// does not take, a success that is not as the document says, or a failure without any request, as of an expression
    /// or a deadline. A hint that names a command says what helps.
    package var mayBeOfDocument: Bool {
        guard let status else { return request == nil && hint?.contains("'pipeline ") != true && self != .givenUp }
        return [400, 401, 403, 404, 405, 415, 422].contains(status) || 200..<300 ~= status && hint != nil
    }

    /// The form of `show --json` and of `*.failed` events; absent facts are null.
    package var json: JSON {
        [
            "title": .string(title), "hint": JSON(hint), "service": JSON(service), "request": JSON(request),
            "status": status.map { .number(JSONNumber($0)) } ?? .null, "body": JSON(body), "place": JSON(place),
        ]
    }

    /// Reads what ``json`` wrote.
    package init(json: JSON) {
        self.init(
            json["title"]?.string ?? "unknown failure", hint: json["hint"]?.string, service: json["service"]?.string,
            request: json["request"]?.string, status: json["status"]?.number?.int, body: json["body"]?.string,
            place: json["place"]?.string)
    }
}

extension JSON {
    /// A string, or null for nil.
    package init(_ text: String?) { self = text.map(JSON.string) ?? .null }
}
