package import JSONPath

extension JobSnapshot {
    /// Returns what expressions of the step may read, as far as it is known of the job; `environment` is the job's own,
    /// `nil` for a variable that was not set, `firstKey` the step's own key before it has a submit, where it is known.
    package func scope(
        for key: StepKey, in plan: Plan, environment: [String: String?], secrets: [String: String],
        secretInputs: JSONObject, firstKey: String? = nil
    ) -> Scope {
        let step = steps[key]
        var scope = Scope(
            inputs: record.inputs, env: environment, secrets: secrets, own: step?.captures ?? [:],
            ownKey: submits[key]?.key ?? firstKey
                ?? SubmitKey.text(jobKey: record.key, step: key, generation: 1),
            item: step?.value, index: key.item,
            job: Scope.Job(id: record.id.text, key: record.key, started: record.started, item: record.item?.key),
            facts: KnownFacts(
                key.item.map { item in facts.reduce(into: [:]) { $0[$1.key.ofItem(item)] = $1.value } } ?? facts),
            baseFolder: record.folders.document)
        for member in secretInputs { scope.inputs[member.name] = member.value }
        let stage = plan.stage(key.stage)
        scope.itemIsOwn = plan.hasOwnItems(key.stage)
        for (other, step) in steps where other.item == nil {
            if case .succeeded(let captures) = step.state {
                scope.stages[other.stage] = .object(captures)
            } else if stage?.isFinal == true {
                scope.stages[other.stage] = .object(step.captures)
            }
        }
        if let item = key.item, let followed = stage?.forEach?.followed,
            let step = steps[StepKey(stage: followed, item: item)]
        {
            scope.stages[followed] = .object(step.captures)
        }
        return scope
    }

    /// Returns what templates outside of all stages may read, such as those of a notification.
    package func documentScope(
        environment: [String: String?], secrets: [String: String] = [:], secretInputs: JSONObject = [:]
    ) -> Scope {
        var scope = Scope(
            inputs: record.inputs, env: environment, secrets: secrets,
            job: Scope.Job(id: record.id.text, key: record.key, started: record.started, item: record.item?.key),
            facts: KnownFacts(facts),
            baseFolder: record.folders.document)
        for member in secretInputs { scope.inputs[member.name] = member.value }
        return scope
    }

    /// The state in which expressions have read a file; nil for one that none has read.
    package func fingerprint(ofFileAt path: String) -> String? {
        for (fact, value) in facts where fact.path == path {
            if let fingerprint = FileFact(value).fingerprint { return fingerprint }
        }
        return nil
    }

    /// Returns the same from what is journaled alone.
    package func documentScope() -> Scope { documentScope(environment: environment) }

    /// The environment variables that were journaled with the job.
    package var environment: [String: String?] {
        record.environment.reduce(into: [:]) { $0[$1.name] = .some($1.value.string) }
    }
}
