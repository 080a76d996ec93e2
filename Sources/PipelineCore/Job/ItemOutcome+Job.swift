import JSONPath

extension ItemOutcome {
    /// An item whose job ends now as its steps stand; null for a result that can't be known.
    package init(endOf job: JobSnapshot, in plan: Plan, at time: Timestamp) {
        switch job.outcome {
        case .succeeded: self.init(.succeeded)
        case .cancelled: self.init(.cancelled)
        default: self.init(.failed)
        }
        ended = time
        seconds = time.seconds(since: job.record.started)
        failure = state == .failed ? job.failure.map { ItemFailure(stage: $0.step.stage, failure: $0.failure) } : nil
        (cost, moved) = (job.cost, job.moved)
        if state == .succeeded, cost == nil, Self.isFree(job, in: plan) { cost = 0 }
        files = job.orderedFiles.map(\.path)
        results = Self.results(of: job, in: plan)
    }

    /// An item whose job was let go before its end, with what it has cost till then.
    package init(suspended job: JobSnapshot) {
        self.init(.suspended)
        (cost, moved) = (job.cost, job.moved)
    }

    /// An item whose job can't go on before a person says what became of a submit.
    package init(unknownIn job: JobSnapshot) {
        self.init(.unknown)
        (cost, moved) = (job.cost, job.moved)
        let lost = job.steps.compactMap { key, step in
            if case .unknown(let attempt, let submit) = step.state { (key, attempt, submit) } else { nil }
        }
        let wereCutOff = lost.allSatisfy { key, attempt, _ in
            guard let sent = job.submits[key]?.lastSent, let takenUp = attempt.takenUp else { return false }
            return sent <= takenUp
        }
        failure = lost.min { $0.0 < $1.0 }.map { key, _, submit in
            var failure = ItemFailure(
                stage: key.stage,
                failure: StepFailure("it is not known whether the service took the submit: \(submit.reason)"))
            failure.wasCutOff = wereCutOff
            return failure
        }
    }

    /// Returns whether there was nothing to pay: of the stages that say what they cost each was skipped, or had no items.
    private static func isFree(_ job: JobSnapshot, in plan: Plan) -> Bool {
        let paid = job.steps.filter { key, _ in plan.stage(key.stage)?.cost != nil }
        return !paid.isEmpty
            && paid.allSatisfy { key, step in
                step.state == .skipped || key.item == nil && plan.stage(key.stage)?.forEach != nil
            }
    }

    /// The values of the document's `batch.results`, null where one can't be known. They are made from captures as these may
    /// be shown: of what an expression makes of a secret one nobody could tell that it is secret.
    private static func results(of job: JobSnapshot, in plan: Plan) -> JSONObject {
        let templates = plan.definition.batch?.results ?? []
        if templates.isEmpty { return [:] }
        var scope = job.documentScope(environment: job.environment)
        let shown = ShownCaptures(of: job.steps, plan: plan)
        for (key, step) in job.steps where key.item == nil {
            scope.stages[key.stage] = .object(shown.captures(of: key, step))
        }
        return JSONObject(
            templates.map { ($0.name, shown.redact((try? $0.value.evaluate(in: scope)) ?? .null).withoutSealed) })
    }
}
