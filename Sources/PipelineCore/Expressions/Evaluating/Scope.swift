package import JSONPath

/// The values that expressions see at one moment: a plain value, cheap to copy and to change for one item or answer.
public struct Scope: Sendable {
    /// `job.…`
    package struct Job: Sendable, Hashable {
        package var id: String
        package var key: String
        /// The time when the job started; shown in RFC 3339.
        package var started: Timestamp
        /// The key of the batch's item that the job is for; nil for a job of its own.
        package var item: String?

        package init(id: String, key: String, started: Timestamp, item: String? = nil) {
            self.item = item
            self.id = id
            self.key = key
            self.started = started
        }
    }

    /// `inputs.NAME`; files are absolute paths.
    package var inputs: JSONObject
    /// `env.NAME`, as journaled when the job started; nil is a variable that was not set.
    package var env: [String: String?]
    /// `secrets.NAME`; one that is not here fails the evaluation with ``EvaluationFailure/missingSecret(_:)``.
    package var secrets: [String: String]
    /// The secrets of which a captured value of the scope holds a piece that could not be opened: an expression that reads
    /// such a value has none.
    package var closed: Set<String> = []
    /// `stages.ID`: an object of captures, or null when the stage was skipped or never ran.
    package var stages: [String: JSON]
    /// `self.CAPTURE`, what this stage captured so far, and `self.parts`, an object of arrays.
    package var own: JSONObject
    /// `self.key`
    package var ownKey: String?
    /// `self.callbackURL`; null without a public address.
    package var callbackURL: String?
    /// `item`
    package var item: JSON?
    /// True if `item` is the author's or the person's own, with nothing in it that a service answered.
    package var itemIsOwn = false
    /// `index`, from 0
    package var index: Int?
    /// `job`; nil in a plan
    package var job: Job?
    /// `response`, see ``ServiceResponse/responseValue``
    package var response: JSON?
    /// `part`: an object of `number` from 1, `offset` and `size`
    package var part: JSON?
    /// `ids`, an array; nil outside of a list that asks for many jobs.
    package var ids: JSON?
    /// The digest of the part's bytes in lower-case hex, for `part.digest(…)`; nil outside of the request for a part.
    package var partDigest: (@Sendable (DigestAlgorithm) throws(StepFailure) -> String)?
    /// The facts that were obtained so far.
    package var facts: KnownFacts
    /// The folder that relative paths in file functions belong to, absolute.
    package var baseFolder: String
    /// Told of each value that an expression has made of others, and of which: what is made of a secret is one.
    package var noteMade: (@Sendable (JSON, [Reference.Root]) -> Void)?

    package init(
        inputs: JSONObject = JSONObject(), env: [String: String?] = [:], secrets: [String: String] = [:],
        stages: [String: JSON] = [:], own: JSONObject = JSONObject(), ownKey: String? = nil,
        callbackURL: String? = nil, item: JSON? = nil, index: Int? = nil, job: Job? = nil, response: JSON? = nil,
        part: JSON? = nil, facts: KnownFacts = KnownFacts(), baseFolder: String = "/"
    ) {
        self.inputs = inputs
        self.env = env
        self.secrets = secrets
        self.stages = stages
        self.own = own
        self.ownKey = ownKey
        self.callbackURL = callbackURL
        self.item = item
        self.index = index
        self.job = job
        self.response = response
        self.part = part
        self.facts = facts
        self.baseFolder = baseFolder
    }

    /// The absolute path of a file that a function or a key names. A URL that an input gave stands for its local copy,
    /// which is a fact to be found out; any other URL is a path like any text.
    package func filePath(_ text: String) throws(EvaluationFailure) -> String {
        guard URLReference.isWebURL(text), inputs.contains(where: { $0.value.string == text }) else {
            return absolute(text)
        }
        guard let path = facts[.copy(url: text)]?.string else { throw .missing(.copy(url: text)) }
        return path
    }

    /// The absolute form of a path in a file function; `.` and `..` stay, as links may stand before them.
    func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return baseFolder.hasSuffix("/") ? baseFolder + path : "\(baseFolder)/\(path)"
    }
}
