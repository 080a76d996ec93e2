import JSONPath
import PipelineCore

/// Looks the secrets of a job up, and hides their values wherever something of the job is shown.
struct SecretReader: Sendable {
    let source: any SecretSource
    let redactor: SharedRedactor

    /// Looks all secrets up; with the first that is missing, as a sentence. Those that are there are used and hidden in
    /// any case: who only tells what became of the job does without the rest. A secret input without a value is missing too:
    /// expressions would take it for null.
    func read(
        of record: JobRecord, _ plan: Plan, known: [String: String], inputs: JSONObject
    ) async -> (found: [String: String], missing: String?) {
        var found = known
        var missing: String?
        for name in plan.secrets where !plan.optionalSecrets.contains(name) || known[name] == nil {
            if let value = await source.secret(name) {
                found[name] = value
            } else if missing == nil, record.needsSecret(name, in: plan) {
                missing = "the secret \(name) is not set" + (source.holder.map { " at \($0)" } ?? "")
            }
        }
        let input = plan.definition.inputs.first { $0.isSecret && inputs[$0.name] == nil }
        return (found, missing ?? input.map { "the secret input '\($0.name)' is kept nowhere and is needed again" })
    }

    /// Looks the named secrets up again, of which a service has refused one; those that are others by now.
    func renew(_ names: some Sequence<String>, known: [String: String]) async -> [String: String] {
        var renewed: [String: String] = [:]
        for name in names {
            guard let value = await source.renewed(name), value != known[name] else { continue }
            renewed[name] = value
        }
        return renewed
    }

    /// Hides all that is secret in the job: what was looked up, inputs, what was made of these, and captures that are
    /// secret.
    func hide(in table: JobTable) {
        redactor.add(table.values.secrets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        redactor.add(table.values.secretInputs.map { ($0.name, $0.value.string ?? $0.value.text) })
        redactor.add(table.values.secretParts)
        let plan = table.plan
        guard (plan.stages + plan.finally).contains(where: { $0.captures.contains(where: \.isSecret) }) else { return }
        for (key, step) in table.snapshot.steps.sorted(by: { $0.key < $1.key }) {
            hide(table.values.opened(step.captures), of: plan.stage(key.stage))
        }
    }

    /// Hides what a stage is repeated over, where that is made of a secret.
    func hide(_ elements: [JSON], of stage: PlannedStage, in plan: Plan) {
        guard let secret = plan.elementSecret(of: stage) else { return }
        redactor.add(elements.flatMap(\.longTexts).map { (secret, $0) })
    }

    /// Hides the values of captures that are secret.
    func hide(_ captures: JSONObject, of stage: PlannedStage?) {
        guard let texts = stage?.secretTexts(in: captures), !texts.isEmpty else { return }
        redactor.add(texts)
    }
}
