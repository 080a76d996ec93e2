import JSONPath
import PipelineCore
import PipelineKit

/// A job as `show --json` and `list --json` tell it.
struct JobReport {
    private let job: OwnedJob
    private let shown: ShownCaptures
    /// The time that it still takes; nil where nothing is known, or nobody asked.
    let estimate: JobEstimate?

    /// - Parameter plan: tells which captures are secret; without one none is shown.
    init(_ job: OwnedJob, plan: Plan? = nil, estimate: JobEstimate? = nil) {
        self.estimate = estimate
        self.job = job
        shown = ShownCaptures(of: job.snapshot.steps, plan: plan)
    }

    private var snapshot: JobSnapshot { job.snapshot }

    /// The form of `list --json`: all but the stages.
    var summary: JSON {
        let record = snapshot.record
        return [
            "job": .string(record.id.text), "pipeline": .string(record.pipeline), "key": .string(record.key),
            "state": .string(job.phase.rawValue),
            "cause": JSON(job.suspension?.rawValue),
            "started": .string(record.started.description), "ended": JSON(snapshot.ended?.description),
            "estimate": estimate.map { .object($0.data) } ?? .null, "error": snapshot.failure?.failure.json ?? .null,
            "tolerated": .number(JSONNumber(snapshot.toleratedFailures.count)),
            "files": .array(snapshot.orderedFiles.map(\.json)),
            "cost": snapshot.cost.map { .number(JSONNumber($0)) } ?? .null,
        ]
    }

    /// The form of `show --json`; `order` is the document's order of stages, and `onlyFailed` leaves out all that has not failed.
    func full(order: [String], onlyFailed: Bool = false) -> JSON {
        let kinds = kinds
        var object = JSONObject()
        for member in summary.object ?? [:] {
            object[member.name] = member.value
            guard member.name == "ended" else { continue }
            let shown = snapshot.steps(inOrder: order).filter { !onlyFailed || $1.state.name == .failed }
            object["stages"] = .array(shown.map { stage($0, $1, kinds) })
        }
        return .object(object)
    }

    private func stage(_ key: StepKey, _ step: StepRecord, _ kinds: [String: String]) -> JSON {
        var error = JSON.null
        if case .failed(let failure) = step.state { error = failure.json }
        return [
            "id": .string(key.stage), "kind": JSON(kinds[key.stage]),
            "item": key.item.map { .number(JSONNumber($0)) } ?? .null, "state": .string(step.state.name.rawValue),
            "attempts": .number(JSONNumber(step.attempts)), "resumes": .number(JSONNumber(step.resumes)),
            "bytesSent": .number(JSONNumber(Int(step.bytesSent))),
            "bytesReceived": .number(JSONNumber(Int(step.bytesReceived))),
            "captures": .object(captures(of: key, step)), "error": error,
        ]
    }

    /// The captures, what is secret hidden.
    func captures(of key: StepKey, _ step: StepRecord) -> JSONObject { shown.captures(of: key, step) }

    /// By stage, from the document; it is read for each call.
    private var kinds: [String: String] {
        let source = SourceText(name: snapshot.record.sourceName, text: snapshot.record.source)
        guard let document = try? JSONNode.parse(source).json else { return [:] }
        let stages = (document["stages"]?.array ?? []) + (document["finally"]?.array ?? [])
        let pairs = stages.compactMap { stage -> (String, String)? in
            guard let id = stage["id"]?.string, let kind = stage["kind"]?.string else { return nil }
            return (id, kind)
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
}
