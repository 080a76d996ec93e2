public import JSONPath

/// The values that expressions see at one moment: a plain value, cheap to copy and to change for one item or answer.
public struct Scope: Sendable {
    /// `job.…`
    public struct Job: Sendable, Hashable {
        public var id: String
        public var key: String
        /// When the job started; shown in RFC 3339.
        public var started: Timestamp
        /// The key of the batch's item that the job is for; nil for a job of its own.
        public var item: String?

        public init(id: String, key: String, started: Timestamp, item: String? = nil) {
            self.item = item
            self.id = id
            self.key = key
            self.started = started
        }
    }

    /// `inputs.NAME`; files are absolute paths.
    public var inputs: JSONObject
    /// `env.NAME`, as journaled when the job started; nil is a variable that was not set.
    public var env: [String: String?]
    /// `secrets.NAME`; one that is not here fails the evaluation with ``EvaluationFailure/missingSecret(_:)``.
    public var secrets: [String: String]
    /// `stages.ID`: an object of captures, or null when the stage was skipped or never ran.
    public var stages: [String: JSON]
    /// `self.CAPTURE`, what this stage captured so far, and `self.parts`, an object of arrays.
    public var own: JSONObject
    /// `self.key`
    public var ownKey: String?
    /// `self.callbackURL`; null without a public address.
    public var callbackURL: String?
    /// `item`
    public var item: JSON?
    /// Whether `item` is the author's or the person's own, with nothing in it that a service answered.
    public var itemIsOwn = false
    /// `index`, from 0
    public var index: Int?
    /// `job`; nil in a plan
    public var job: Job?
    /// `response`, see ``ServiceResponse/responseValue``
    public var response: JSON?
    /// `part`: an object of `number` from 1, `offset` and `size`
    public var part: JSON?
    /// `ids`, an array; nil outside of a list that asks for many jobs.
    public var ids: JSON?
    /// The digest of the part's bytes in lower-case hex, for `part.digest(…)`; nil outside of the request for a part.
    public var partDigest: (@Sendable (DigestAlgorithm) throws(StepFailure) -> String)?
    /// What was obtained so far.
    public var facts: KnownFacts
    /// The folder that relative paths in file functions belong to, absolute.
    public var baseFolder: String

    public init(
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

    /// The absolute form of a path in a file function; `.` and `..` stay, as links may stand before them.
    func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return baseFolder.hasSuffix("/") ? baseFolder + path : "\(baseFolder)/\(path)"
    }
}
