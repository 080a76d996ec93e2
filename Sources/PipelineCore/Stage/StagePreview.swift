public import JSONPath

/// The part of a plan about a stage before it runs: its requests, and how a lost submit would be reconciled.
public struct StagePreview: Sendable {
    /// In the order in which they would first be sent.
    public var requests: [RequestPreview]
    /// A sentence; nil for a stage without a submit.
    public var once: String?
    /// The file or, with a final `/`, the folder that it writes; nil for none.
    public var writes: String?
    /// The event that it waits for, in words; nil for a stage that does not wait.
    public var waits: String?

    /// Makes a preview of a stage: its requests, what it does once only, the file it writes, what it waits for.
    public init(requests: [RequestPreview] = [], once: String? = nil, writes: String? = nil, waits: String? = nil) {
        self.requests = requests
        self.once = once
        self.writes = writes
        self.waits = waits
    }
}

/// A request as far as it is known before it is sent: secrets as `‹secret:NAME›`, later values as
/// `‹stages.upload.id›`.
public struct RequestPreview: Sendable {
    /// The purpose of the request: `submit`, `poll`, `cancel`, `upload`, `download` …
    public var purpose: String
    /// The method, as it is sent.
    public var method: String
    /// The whole URL; what is not known yet stands in it as the document writes it.
    public var url: String
    /// The headers that the document gives, in its order. Secrets stand in them by their names.
    public var headers: [(name: String, value: String)]
    /// JSON for a `json` body, an object for a form; what it would be, in words, for bytes; null for none.
    public var body: JSON
    /// The other things that happen to it before it is sent, each a clause, such as that a plugin changes it.
    public var notes: [String] = []
    /// The origin that it goes to and the account that asks, by which services are told apart: a secret, and shown nowhere.
    /// Nil unless the scope asks for it, and where a value of it is not known yet.
    package var account: String?

    /// A request as it would be sent; `purpose` is what it does, in a few words.
    public init(
        purpose: String, method: String, url: String, headers: [(name: String, value: String)] = [],
        body: JSON = .null
    ) {
        self.purpose = purpose
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The form of `plan --json`.
    package var json: JSON {
        var fields = JSONObject()
        for (name, value) in headers {
            // Fields of one name are one list (RFC 9110, section 5.3).
            fields[name] = .string(fields[name]?.string.map { "\($0), \(value)" } ?? value)
        }
        var json: JSONObject = [
            "for": .string(purpose), "method": .string(method), "url": .string(url), "headers": .object(fields),
            "body": body,
        ]
        if !notes.isEmpty { json["notes"] = .array(notes.map(JSON.string)) }
        return .object(json)
    }
}

/// The values that a preview is made from.
public struct PreviewScope: Sendable {
    /// The values that are known; what is not known yet is shown by its name.
    public var known: Scope
    /// The scope with such a name as the value of everything else, for what can only be evaluated.
    public var filled: Scope
    /// True where previews are to say at which service, and as whom, their requests ask.
    package var tellsAccounts = false

    /// - Parameters:
    ///   - known: inputs and environment.
    ///   - secrets: the names of the document's secrets.
    ///   - captures: the names of captures, by stage.
    package init(known: Scope, secrets: [String], captures: [String: [String]]) {
        self.known = known
        filled = known
        filled.secrets = Dictionary(uniqueKeysWithValues: secrets.map { ($0, "‹secret:\($0)›") })
        for (stage, names) in captures {
            filled.stages[stage] = .object(JSONObject(names.map { ($0, .string("‹stages.\(stage).\($0)›")) }))
        }
        filled.ownKey = "‹self.key›"
        filled.item = "‹item›"
        filled.index = 0
        filled.job = Scope.Job(id: "‹job.id›", key: "‹job.key›", started: .epoch)
    }

    /// Turns to a stage of the document, whose own captures have these names.
    package mutating func show(_ own: [String]) {
        filled.own = JSONObject(own.map { ($0, .string("‹self.\($0)›")) })
    }
}
