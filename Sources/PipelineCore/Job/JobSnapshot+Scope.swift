package import JSONPath

extension JobSnapshot {
    /// Returns the job as its owner would have it in memory, to ask the law about it: without secrets and values that are
    /// kept nowhere, unless they are given.
    package func table(
        in plan: Plan, secrets: [String: String] = [:], secretInputs: JSONObject = [:], at time: Timestamp
    ) -> JobTable {
        let values = JobValues(environment: environment, secretInputs: secretInputs, secrets: secrets)
        return JobTable(self, plan: plan, values: values, at: JobMoment(time))
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

    /// Returns the same from what is journaled alone.
    package func documentScope() -> Scope { documentScope(environment: environment) }

    /// The environment variables that were journaled with the job.
    package var environment: [String: String?] {
        record.environment.reduce(into: [:]) { $0[$1.name] = .some($1.value.string) }
    }
}
