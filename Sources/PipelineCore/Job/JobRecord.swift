package import JSONPath

/// The facts of a job that are fixed when it starts: kept whole, so that a resume in another shell, after an edit of
/// the file or on another day does the same job.
package struct JobRecord: Sendable {
    package let id: JobID
    /// The pipeline's name.
    package let pipeline: String
    /// `--key`, or the id: the same over retries and restarts.
    package let key: String
    package let started: Timestamp
    /// The document as it was read, with the name that messages use for it.
    package let source: String
    package let sourceName: String
    /// SHA-256 of the document, in hex.
    package let digest: String
    /// The inputs' values, paths absolute; a secret input is left out.
    package let inputs: JSONObject
    /// The environment variables that the document names, as they were; null for one that was not set.
    package let environment: JSONObject
    package let folders: JobFolders
    /// True if existing files may be replaced.
    package let overwrites: Bool
    package var beginning: JobBeginning
    /// The item of a batch that the job is for; nil for a job of its own.
    package var item: BatchItem?

    package init(
        id: JobID, pipeline: String, key: String, started: Timestamp, source: String, sourceName: String,
        digest: String, inputs: JSONObject, environment: JSONObject, folders: JobFolders, overwrites: Bool,
        beginning: JobBeginning = JobBeginning()
    ) {
        self.beginning = beginning
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

/// What was found when a job began, besides the values that are kept as they were: it holds to the end, whatever a resume
/// finds.
package struct JobBeginning: Sendable, Hashable {
    /// The names of secrets that the document can do without and that were found nevertheless, in order of the alphabet: what began
    /// with one does not go on without it.
    package var foundSecrets: [String]
    /// The secret inputs that nobody gave, so that their defaults hold, at a resume too. All others are needed again; of
    /// jobs of before nobody knows, and then all are.
    package var defaultedInputs: [String]

    /// What the values of the inputs were, those of files by what stood in them, as ``InputDigest`` says; nil where no key
    /// of a submit is made from it, as in all jobs of before.
    package var inputDigest: String?

    package init(foundSecrets: [String] = [], defaultedInputs: [String] = [], inputDigest: String? = nil) {
        self.foundSecrets = foundSecrets
        self.defaultedInputs = defaultedInputs
        self.inputDigest = inputDigest
    }
}

extension JobRecord {
    /// What tells the item of a batch that the job is for from all others, also from those of other batches, in a file's
    /// name: its number, with which the job's key ends, and the end of the batch's id, which is random. Nil for a job
    /// of its own.
    package var itemLabel: String? {
        guard let item, let number = key.split(separator: ".").last else { return nil }
        return "\(number)-\(item.batch.text.suffix(8))"
    }
}

/// Which item of which batch a job is for.
package struct BatchItem: Sendable, Hashable {
    /// The batch's own job.
    package let batch: JobID
    /// The value that expressions read as `job.item`.
    package let key: String

    package init(batch: JobID, key: String) {
        self.batch = batch
        self.key = key
    }
}

/// The request of a person to a job whose owner has not yet done it.
public enum JobRequest: String, Sendable, Hashable, CaseIterable {
    case cancel, pause
}

extension JobRecord {
    /// Returns whether the job can't go on without the secret of that name: nothing in the document does without it, or
    /// the job began with it.
    package func needsSecret(_ name: String, in plan: Plan) -> Bool {
        !plan.optionalSecrets.contains(name) || beginning.foundSecrets.contains(name)
    }
}

extension JobRecord {
    /// What the keys of a step's submits are made from.
    package func submitName(of step: StepKey) -> SubmitName {
        SubmitName(jobKey: key, inputDigest: beginning.inputDigest, isItem: item != nil, step: step)
    }
}

extension JobSnapshot {
    /// The own key of a step, which is part of the address of pushes for it: of its last submit, else of its first to come.
    package func ownKey(of step: StepKey) -> String {
        submits[step]?.key ?? record.submitName(of: step).key(ofGeneration: 1)
    }
}
