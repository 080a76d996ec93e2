import Crypto
import JSONPath
package import PipelineCore

/// The document of a job as its file is by now, for the job to go on with: what has succeeded stays.
package struct MendedDocument: Sendable {
    package let plan: Plan
    /// The job's record with that document. Inputs, and the environment as it was, keep their values.
    package let record: JobRecord

    /// The keys of a stage that only tell how what was begun goes on.
    private static let mendable: Set<String> = [
        "ask", "callback", "cancel", "capture", "complete", "concurrency", "continueOnFailure", "cost", "deadline",
        "expires", "list", "notify", "parallel", "part", "poll", "renew", "result", "retry", "stopOnFailure", "timeout",
        "tolerate", "verify", "with",
    ]

    /// Reads the document and compares it with the job's.
    ///
    /// - Parameter scope: what is to be begun again of the job.
    /// - Throws: a `DefinitionError` or an `InputsError` with the mistakes of the document; a `StepFailure` when the file
    ///   can't be read or says nothing else, and where it can't be gone on with: another name, other stages or
    ///   notifications, or a stage that has begun and would have begun otherwise.
    package init(of job: JobSnapshot, _ scope: RestartScope, in workspace: Workspace) async throws {
        let before = job.record
        let file = before.sourceName.split(separator: "/").last.map(String.init) ?? before.pipeline
        let path = AbsolutePath.of(file, in: before.folders.document)
        let source = try JobDraft.source(at: path)
        let name = before.sourceName
        let advice = "'pipeline run \(name)' begins a job with it"
        let digest = SHA256.hash(data: source.bytes).hex
        guard digest != before.digest else {
            throw StepFailure(
                "\(path) says what it said when the job began", hint: "mend it first, or leave --changed out")
        }
        plan = try await Planner(catalogue: workspace.catalogue(for: source)).plan(source)
        let (old, new) = (Self.json(SourceText(name: name, text: before.source)), Self.json(source))
        guard plan.definition.name == before.pipeline else {
            throw StepFailure(
                "\(name) is called '\(plan.definition.name)' by now, not '\(before.pipeline)'", hint: advice)
        }
        if old?["notify"] != new?["notify"] {
            throw StepFailure("\(name) has another \"notify\", and this job keeps the one of before", hint: advice)
        }
        for list in ["stages", "finally"] {
            let (known, named) = (Self.stages(old?[list]), Self.stages(new?[list]))
            if let other = named.keys.filter({ known[$0] == nil }).min() {
                throw StepFailure("\(name) has a stage '\(other)' that this job does not have", hint: advice)
            }
            if let missing = known.keys.filter({ named[$0] == nil }).min() {
                throw StepFailure("\(name) has no stage '\(missing)' any more, which this job has", hint: advice)
            }
            let anew = scope.begunAnew(in: plan)
            for stage in plan.stages + plan.finally {
                guard !anew.contains(stage.id), let was = known[stage.id], let says = named[stage.id] else { continue }
                if let fixed = Self.fixed(stage.id, was, says, in: job) {
                    throw StepFailure(
                        "stage '\(stage.id)' \(fixed), and says something else by now",
                        hint: "let it say what it said, or do it again, with all that need it: "
                            + "pipeline retry \(before.id) --changed --from \(stage.id)")
                }
            }
        }
        let variables = workspace.settings.environment
        let environment = JSONObject(
            plan.environment.map { ($0, before.environment[$0] ?? JSON(variables[$0])) })
        let folder = before.folders.document
        let fresh = plan.definition.inputs.filter { before.inputs[$0.name] == nil && !$0.isSecret }
        let defaults = try InputValues(
            inputs: fresh, folders: (folder, folder),
            scope: Scope(
                env: Dictionary(uniqueKeysWithValues: environment.map { ($0.name, $0.value.string) }),
                baseFolder: folder),
            standardInput: { nil }
        ).values(from: GivenInputs())
        let inputs = plan.definition.inputs.compactMap { input in
            (before.inputs[input.name] ?? defaults[input.name]).map { (input.name, $0) }
        }
        var folders = before.folders
        folders.namesFiles = plan.namesFiles
        var record = JobRecord(
            id: before.id, pipeline: before.pipeline, key: before.key, started: before.started,
            source: String(decoding: plan.definition.source.bytes, as: UTF8.self), sourceName: name, digest: digest,
            inputs: JSONObject(inputs), environment: environment, folders: folders, overwrites: before.overwrites,
            beginning: before.beginning)
        record.item = before.item
        self.record = record
    }

    private static func json(_ source: SourceText) -> JSON? { JSONNode.read(source).node?.json }

    private static func stages(_ list: JSON?) -> [String: JSONObject] {
        let stages = (list?.array ?? []).compactMap(\.object)
        return Dictionary(stages.map { ($0["id"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns what is done of a stage that what it says by now would not have done; nil for nothing.
    private static func fixed(
        _ stage: String, _ was: JSONObject, _ says: JSONObject, in job: JobSnapshot
    ) -> String? {
        if was == says { return nil }
        let steps = job.steps.filter { $0.key.stage == stage }
        if steps.values.contains(where: { $0.state.name == .succeeded }) { return "has succeeded" }
        let names = Set(was.names + says.names)
        if names.allSatisfy({ mendable.contains($0) || was[$0] == says[$0] }) { return nil }
        let hasSubmitted = steps.keys.contains { key in
            job.submits[key].map { $0.phase != .intent && $0.phase != .refused } == true
        }
        if hasSubmitted { return "has submitted" }
        // A request that was refused is sent as it is by then.
        if ["compute", "request"].contains(was["kind"]?.string) && was["kind"] == says["kind"] { return nil }
        return steps.values.contains { $0.bytesSent + $0.bytesReceived > 0 && $0.checkpoint != nil } ? "has begun" : nil
    }
}
