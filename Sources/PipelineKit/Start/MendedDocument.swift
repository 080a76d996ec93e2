import Crypto
import JSONPath
package import PipelineCore

/// The document of a job as its file is by now, for the job to go on with: what has succeeded stays.
package struct MendedDocument: Sendable {
    package let plan: Plan
    /// The job's record with that document. Inputs, and the environment as it was, keep their values.
    package let record: JobRecord
    /// The submits whose remote jobs are asked about again: they were given up by what a poll said that is another by now.
    let askedAgain: [StepKey: SubmitRecord]
    /// How it reconciles the submits that are unknown.
    package let resolutions: [StepKey: Resolution]

    /// Reads the document and compares it with the job's.
    ///
    /// - Parameters:
    ///   - scope: what is to be begun again of the job.
    ///   - unknown: the job's submits that are.
    /// - Returns: nil where the job has that document.
    /// - Throws: a `DefinitionError` or an `InputsError` with the mistakes of the document; a `StepFailure` when the file
    ///   can't be read, and where the job can't go on with it: another name, other stages or notifications, or a stage that
    ///   has begun and would have begun otherwise.
    package static func read(
        for job: JobSnapshot, _ scope: RestartScope, _ unknown: UnknownSubmits, in workspace: Workspace
    ) async throws -> MendedDocument? {
        let before = job.record
        let file = before.sourceName.split(separator: "/").last.map(String.init) ?? before.pipeline
        let source = try JobDraft.source(at: AbsolutePath.of(file, in: before.folders.document))
        if SHA256.hash(data: source.bytes).hex == before.digest { return nil }
        let plan = try await Planner(catalogue: workspace.catalogue(for: source)).plan(source)
        let resolutions = unknown.resolutions(by: source)
        if let lacking = unknown.accepted.first(where: { resolutions[$0] == nil }) {
            throw StepFailure(
                "the response to the submit of \(lacking) does not have, or does not show, what \(before.sourceName) captures by now",
                hint: "'pipeline show \(before.id)' shows it; 'pipeline resolve \(before.id) --stage \(lacking.stage)' "
                    + "takes the values from you")
        }
        return try MendedDocument(
            plan, for: job, scope, resolutions, variables: workspace.settings.environment)
    }

    /// Compares a document with the job's.
    ///
    /// - Parameters:
    ///   - scope: what is to be begun again of the job.
    ///   - resolutions: how the document reconciles the submits that are unknown.
    ///   - variables: the environment, for what is new in the document.
    /// - Throws: as ``read(for:_:_:in:)`` does of a document that is right.
    package init(
        _ plan: Plan, for job: JobSnapshot, _ scope: RestartScope, _ resolutions: [StepKey: Resolution] = [:],
        variables: [String: String]
    ) throws {
        let (before, source) = (job.record, plan.definition.source)
        let old = SourceText(name: before.sourceName, text: before.source)
        let changes = DocumentChanges(from: JSONNode.read(old).node?.json, to: JSONNode.read(source).node?.json)
        let again = scope.begunAnew(in: plan)
        try changes.check(plan, for: job, besides: again, resolutions)
        self.plan = plan
        self.resolutions = resolutions
        record = try Self.record(
            before, plan, changes, digest: SHA256.hash(data: source.bytes).hex, variables: variables)
        askedAgain = changes.remoteJobsAskedAgain(of: job, plan, besides: again)
    }

    /// What is to be known of it before the job goes on, a sentence each.
    package var notes: [String] {
        Set(askedAgain.keys.map(\.stage)).sorted().map { stage in
            "stage '\(stage)' asks for its remote job again, as its poll is another by now"
        } + Self.notes(on: resolutions)
    }

    /// What becomes of submits that were unknown, a sentence each.
    package static func notes(on resolutions: [StepKey: Resolution]) -> [String] {
        resolutions.sorted { $0.key < $1.key }.map { key, resolution in
            guard case .found(let captures) = resolution else { return "the submit of \(key) is looked for again" }
            let values = captures.map { "\($0.name) = \($0.value.string ?? $0.value.text)" }.joined(separator: ", ")
            return "the response to the submit of \(key) was kept, and has \(values)"
        }
    }

    /// The record of a job with another document. What is new in it has its default, or its value of now.
    private static func record(
        _ before: JobRecord, _ plan: Plan, _ changes: DocumentChanges, digest: String, variables: [String: String]
    ) throws -> JobRecord {
        let environment = JSONObject(plan.environment.map { ($0, before.environment[$0] ?? JSON(variables[$0])) })
        let folder = before.folders.document
        let known = Scope(
            env: Dictionary(uniqueKeysWithValues: environment.map { ($0.name, $0.value.string) }), baseFolder: folder)
        let inputs = try plan.definition.inputs.filter { !$0.isSecret }.compactMap { input -> (String, JSON)? in
            let value = before.inputs[input.name]
            if let value, !changes.has(inputCalled: input.name) { return (input.name, value) }
            let given = GivenInputs(document: value.map { [input.name: $0] } ?? [:])
            let values = try InputValues(
                inputs: [input], folders: (folder, folder), scope: known, standardInput: { nil }, allowsMissing: true
            ).values(from: given)
            guard let value = values[input.name] else {
                throw StepFailure(
                    "the input '\(input.name)' has no value in this job",
                    hint: "give it a \"default\"; 'pipeline run \(before.sourceName)' begins another job")
            }
            return (input.name, value)
        }
        var folders = before.folders
        folders.namesFiles = plan.namesFiles
        var record = JobRecord(
            id: before.id, pipeline: before.pipeline, key: before.key, started: before.started,
            source: String(decoding: plan.definition.source.bytes, as: UTF8.self), sourceName: before.sourceName,
            digest: digest, inputs: JSONObject(inputs), environment: environment, folders: folders,
            overwrites: before.overwrites, beginning: before.beginning)
        record.item = before.item
        return record
    }
}
