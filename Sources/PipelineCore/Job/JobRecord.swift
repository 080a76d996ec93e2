public import JSONPath

/// What is fixed when a job starts: kept whole, so that a resume in another shell, after an edit of the file or on
/// another day does the same job.
public struct JobRecord: Sendable {
    public let id: JobID
    /// The pipeline's name.
    public let pipeline: String
    /// `--key`, or the id: the same over retries and restarts.
    public let key: String
    public let started: Timestamp
    /// The document as it was read, with the name that messages use for it.
    public let source: String
    public let sourceName: String
    /// SHA-256 of the document, in hex.
    public let digest: String
    /// The inputs' values, paths absolute; a secret input is left out.
    public let inputs: JSONObject
    /// The environment variables that the document names, as they were; null for one that was not set.
    public let environment: JSONObject
    public let folders: JobFolders
    /// Whether existing files may be replaced.
    public let overwrites: Bool
    /// The names of the secrets that the document can do without and that were found nevertheless, in order of the
    /// alphabet: what began with one does not go on without it. Never a value.
    public var foundSecrets: [String]
    /// The item of a batch that the job is for; nil for a job of its own.
    public var item: BatchItem?

    public init(
        id: JobID, pipeline: String, key: String, started: Timestamp, source: String, sourceName: String,
        digest: String, inputs: JSONObject, environment: JSONObject, folders: JobFolders, overwrites: Bool,
        foundSecrets: [String] = []
    ) {
        self.foundSecrets = foundSecrets
        self.id = id
        self.pipeline = pipeline
        self.key = key
        self.started = started
        self.source = source
        self.sourceName = sourceName
        self.digest = digest
        self.inputs = inputs
        self.environment = environment
        self.folders = folders
        self.overwrites = overwrites
    }
}

/// Which item of which batch a job is for.
public struct BatchItem: Sendable, Hashable {
    /// The batch's own job.
    public let batch: JobID
    /// What expressions read as `job.item`.
    public let key: String

    public init(batch: JobID, key: String) {
        self.batch = batch
        self.key = key
    }
}

/// What a person asked of a job whose owner has not yet done it.
public enum JobRequest: String, Sendable, Hashable, CaseIterable {
    case cancel, pause
}

extension JobRecord {
    /// Whether the job can't go on without the secret of that name: nothing in the document does without it, or the job
    /// began with it.
    public func needsSecret(_ name: String, in plan: Plan) -> Bool {
        !plan.optionalSecrets.contains(name) || foundSecrets.contains(name)
    }
}
