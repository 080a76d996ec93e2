import Crypto
package import JSONPath
package import PipelineCore

/// A pipeline file that was read and planned, and what a run of it starts from.
package struct JobDraft: Sendable {
    package let plan: Plan
    /// The document's absolute path.
    package let path: String
    /// SHA-256 of the document, in hex.
    package let digest: String
    /// The values of the inputs, paths absolute.
    package let inputs: JSONObject
    /// The environment variables that the document names, null for one that is not set.
    package let environment: JSONObject
    /// The names of the secret inputs whose defaults hold.
    private let defaultedInputs: [String]

    /// Reads, plans and fills in, for a plan without the inputs that have no value; throws `DefinitionError`, `InputsError` or a `StepFailure` for the file itself.
    package init(
        path: String, catalogue: Catalogue, given: GivenInputs, environment variables: [String: String],
        standardInput: @escaping () -> String?, allowsMissingInputs: Bool = false
    ) throws {
        let working = AbsolutePath.workingDirectory
        self.path = AbsolutePath.of(path, in: working)
        let source = try Self.source(at: path)
        digest = SHA256.hash(data: source.bytes).hex
        plan = try Planner(catalogue: catalogue).plan(source)
        environment = JSONObject(plan.environment.map { ($0, JSON(variables[$0])) })
        let folder = AbsolutePath.folder(of: self.path)
        let scope = Scope(
            env: Dictionary(uniqueKeysWithValues: plan.environment.map { ($0, variables[$0]) }), baseFolder: folder)
        inputs = try InputValues(
            inputs: plan.definition.inputs, folders: (folder, working), scope: scope, standardInput: standardInput,
            allowsMissing: allowsMissingInputs
        ).values(from: given)
        defaultedInputs = plan.definition.inputs.filter { $0.isSecret && !given.has($0.name) }.map(\.name)
    }

    /// The draft that a job was made from, with the values of its secret inputs.
    package init(_ record: JobRecord, plan: Plan, secretInputs: JSONObject) {
        self.plan = plan
        let name = record.sourceName.split(separator: "/").last.map(String.init) ?? record.pipeline
        path = AbsolutePath.of(name, in: record.folders.document)
        (digest, environment, defaultedInputs) = (record.digest, record.environment, record.beginning.defaultedInputs)
        inputs = JSONObject((Array(record.inputs) + Array(secretInputs)).map { ($0.name, $0.value) })
    }

    /// The draft with the inputs of one item of a batch.
    func with(inputs: JSONObject) -> JobDraft { JobDraft(self, inputs: inputs) }

    private init(_ draft: JobDraft, inputs: JSONObject) {
        (plan, path, digest, environment) = (draft.plan, draft.path, draft.digest, draft.environment)
        defaultedInputs = draft.defaultedInputs
        self.inputs = inputs
    }

    /// The text of a pipeline file, named as the person named it, with the services that it shares with others.
    ///
    /// - Throws: a `StepFailure` when it can't be read; a `DefinitionError` with the mistakes of a shared service.
    package static func source(at path: String) throws -> SourceText {
        guard let bytes = FileContent.bytes(path, limit: 512 << 20) else {
            if ["http://", "https://"].contains(where: { path.lowercased().hasPrefix($0) }) {
                throw StepFailure(
                    "a pipeline file is read from a disk, and not from \(path)",
                    hint: "get it with 'curl -fo pipeline.json URL', look at it, then name that file; for a request to "
                        + "an address 'pipeline init --from-curl' makes a pipeline file of a curl command")
            }
            throw StepFailure(
                "cannot read \(path): \(FileContent.reason)",
                hint: FileContent.isForbidden
                    ? "you may not read it: check its rights, and those of its folders"
                    : "check the path of the pipeline file")
        }
        let folder = AbsolutePath.folder(of: AbsolutePath.of(path, in: AbsolutePath.workingDirectory))
        return try SharedServices.expanded(SourceText(name: path, bytes: bytes), in: folder)
    }

    /// The values of inputs that are kept nowhere.
    package var secretInputs: JSONObject {
        let names = plan.definition.inputs.filter(\.isSecret).map(\.name)
        return JSONObject(inputs.filter { names.contains($0.name) }.map { ($0.name, $0.value) })
    }

    /// The files that the inputs name, absolute, but for those of secret inputs.
    var files: [String] { plan.definition.inputs.filter { !$0.isSecret }.flatMap { $0.files(of: inputs[$0.name]) } }

    /// The values that anybody may see.
    var shownInputs: JSONObject {
        let secret = secretInputs
        return JSONObject(inputs.filter { secret[$0.name] == nil }.map { ($0.name, $0.value) })
    }

    /// Returns what would make the job fail for sure after it has spent uploads and submits; nil for nothing that is
    /// known yet.
    ///
    /// - Parameter written: what earlier jobs of the pipeline wrote at a path.
    package func preflight(
        to record: JobRecord, written: @escaping @Sendable (String) async -> [WrittenFile] = { _ in [] }
    ) async -> StepFailure? {
        var known = known
        known.job = Scope.Job(id: record.id.text, key: record.key, started: record.started, item: record.item?.key)
        return shown(
            await plan.preflight(
                at: JobStart(known: known, folders: record.folders, overwrites: record.overwrites, written: written)))
    }

    /// A duration, size, number or boolean that an expression gives and that is wrong, of those that are known
    /// before there is a job.
    package var mistake: StepFailure? {
        let folder = AbsolutePath.folder(of: path)
        let folders = JobFolders(document: folder, output: folder)
        return shown(plan.mistake(at: JobStart(known: known, folders: folders, overwrites: false)))
    }

    /// Without the values of secret inputs.
    private func shown(_ failure: StepFailure?) -> StepFailure? {
        guard var failure, !secretInputs.isEmpty else { return failure }
        failure.title = Redactor(secretTexts).redact(failure.title)
        return failure
    }

    /// The scope that expressions may read before there is a job.
    package var known: Scope {
        Scope(
            inputs: inputs, env: Dictionary(uniqueKeysWithValues: environment.map { ($0.name, $0.value.string) }),
            baseFolder: AbsolutePath.folder(of: path))
    }

    /// Secret inputs as texts, by name.
    private var secretTexts: [String: String] {
        Dictionary(
            secretInputs.map { ($0.name, $0.value.string ?? $0.value.text) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns what is journaled when the job starts.
    package func record(
        id: JobID, key: String?, started: Timestamp, outputFolder: String, overwrites: Bool
    ) -> JobRecord {
        let secret = secretInputs
        let kept = JSONObject(inputs.filter { secret[$0.name] == nil }.map { ($0.name, $0.value) })
        var folders = JobFolders(document: AbsolutePath.folder(of: path), output: outputFolder)
        folders.namesFiles = plan.namesFiles
        var record = JobRecord(
            id: id, pipeline: plan.definition.name, key: key ?? id.text, started: started,
            source: String(decoding: plan.definition.source.bytes, as: UTF8.self),
            sourceName: plan.definition.source.name, digest: digest, inputs: kept, environment: environment,
            folders: folders, overwrites: overwrites)
        record.beginning.defaultedInputs = defaultedInputs
        return record
    }
}
