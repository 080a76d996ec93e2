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
        let digest = SHA256.hash(data: source.bytes).hex
        guard digest != before.digest else {
            throw StepFailure(
                "\(path) says what it said when the job began", hint: "mend it first, or leave --changed out")
        }
        plan = try await Planner(catalogue: workspace.catalogue(for: source)).plan(source)
        let old = SourceText(name: before.sourceName, text: before.source)
        try Self.check(
            from: JSONNode.read(old).node?.json, to: JSONNode.read(source).node?.json, plan, for: job,
            besides: scope.begunAnew(in: plan))
        record = try Self.record(before, plan, digest: digest, variables: workspace.settings.environment)
    }

    /// Throws unless what is done of the job would have been done with the document too.
    ///
    /// - Parameter anew: the stages that begin again.
    private static func check(
        from old: JSON?, to new: JSON?, _ plan: Plan, for job: JobSnapshot, besides anew: Set<String>
    ) throws(StepFailure) {
        let (record, name) = (job.record, job.record.sourceName)
        func refusal(_ what: String) -> StepFailure {
            StepFailure("\(name) \(what)", hint: "'pipeline run \(name)' begins a job with it")
        }
        let title = plan.definition.name
        if title != record.pipeline { throw refusal("is called '\(title)' by now, not '\(record.pipeline)'") }
        if old?["notify"] != new?["notify"] {
            throw refusal("has another \"notify\", and this job keeps the one of before")
        }
        for list in ["stages", "finally"] {
            let (known, named) = (stages(old?[list]), stages(new?[list]))
            if let other = named.keys.filter({ known[$0] == nil }).min() {
                throw refusal("has a stage '\(other)' that this job does not have")
            }
            if let missing = known.keys.filter({ named[$0] == nil }).min() {
                throw refusal("has no stage '\(missing)' any more, which this job has")
            }
            for (id, was) in known.sorted(by: { $0.key < $1.key }) where !anew.contains(id) {
                guard let says = named[id], let done = done(of: id, was, otherThan: says, in: job) else { continue }
                throw StepFailure(
                    "stage '\(id)' \(done), and says something else by now",
                    hint: "let it say what it said, or do it again, with all that need it: "
                        + "pipeline retry \(record.id) --changed --from \(id)")
            }
        }
    }

    /// The record of a job with another document. What is new in it has its default, or its value of now.
    private static func record(
        _ before: JobRecord, _ plan: Plan, digest: String, variables: [String: String]
    ) throws(InputsError) -> JobRecord {
        let environment = JSONObject(plan.environment.map { ($0, before.environment[$0] ?? JSON(variables[$0])) })
        let folder = before.folders.document
        let known = Scope(
            env: Dictionary(uniqueKeysWithValues: environment.map { ($0.name, $0.value.string) }), baseFolder: folder)
        let defaults = try InputValues(
            inputs: plan.definition.inputs.filter { before.inputs[$0.name] == nil && !$0.isSecret },
            folders: (folder, folder), scope: known, standardInput: { nil }
        ).values(from: GivenInputs())
        let inputs = plan.definition.inputs.compactMap { input in
            (before.inputs[input.name] ?? defaults[input.name]).map { (input.name, $0) }
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

    private static func stages(_ list: JSON?) -> [String: JSONObject] {
        let stages = (list?.array ?? []).compactMap(\.object)
        return Dictionary(stages.map { ($0["id"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns what is done of a stage that it would not have done as it is by now; nil for nothing.
    private static func done(
        of stage: String, _ was: JSONObject, otherThan says: JSONObject, in job: JobSnapshot
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
