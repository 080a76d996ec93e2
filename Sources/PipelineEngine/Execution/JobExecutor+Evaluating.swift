import JSONPath
import PipelineCore

/// What the law of a job has found out: expressions that may need facts, secrets, and what stages want kept with their
/// start.
extension JobExecutor {
    /// What expressions of the step may read at this moment.
    func scope(for key: StepKey) -> Scope { state.table.scope(for: key) }

    /// The engine's side of a call of the step's stage.
    func host(for key: StepKey, _ stage: PlannedStage, _ step: StepRecord) -> StepHost {
        let facts = StageFacts(
            job: snapshot.record.id, jobKey: snapshot.record.key, pipeline: snapshot.record.pipeline, step: key,
            attempt: step.state.attempt?.number ?? 1, started: step.started ?? ports.clock.now,
            deadline: state.table.deadline(of: key), folders: snapshot.record.folders,
            overwrites: options.overwrites || snapshot.record.overwrites, retry: state.table.policy(of: key, stage),
            outlook: outlook(of: key, stage), isAttended: state.interactivity == .attended, place: stage.place,
            namesRead: stage.namesRead, keepsResponse: stage.readsResponse)
        return StepHost(
            facts: facts, begin: state.table.moment, channel: channel(for: key), lease: lease,
            document: state.table.plan.definition, ports: ports, redactor: redactor, notes: notes)
    }

    /// What is known of the step's duration: of a remote job also by how long others have run by now.
    private func outlook(of key: StepKey, _ stage: PlannedStage) -> StageOutlook {
        guard case .remoteJob = stage.stage.work, let history = options.history else {
            return state.marks.outlook(of: key, stage, in: state.table)
        }
        let record = snapshot.record
        let latest = history.samples(of: record.pipeline, stage: key.stage, besides: record.id)
        return state.marks.outlook(of: key, stage, in: state.table, latest: latest)
    }

    /// What an expression of the engine's own is evaluated with.
    private func context(for key: StepKey, _ stage: PlannedStage) -> StageContext<Int> {
        StageContext<Int>(host: host(for: key, stage, state.table.step(key) ?? StepRecord())) { _ in [] }
    }

    /// Evaluates the step's `when`, its settings and what it reads, so that a value that is wrong fails it at once.
    func prepare(_ key: StepKey) async throws(JournalFailure) -> StepPreparation {
        guard let stage = state.table.plan.stage(key.stage) else { return .skipped }
        do throws(StageFailure) {
            if let condition = stage.condition, (key.item != nil) == stage.conditionReadsItem,
                try await !isTrue(condition, key, stage)
            {
                return .skipped
            }
            let tolerates = try await settings(of: key, stage)
            for source in snapshot.sources(of: key, stage) {
                if let found = try await expiry(of: source, readBy: stage), found.time <= ports.clock.now {
                    return .expired(found)
                }
            }
            return .ready(tolerates: tolerates, checkpoint: await firstCheckpoint(of: key, stage))
        } catch {
            return .failed(try failure(of: error))
        }
    }

    private func failure(of error: StageFailure) throws(JournalFailure) -> StepFailure {
        switch error {
        case .failed(let failed): return failed.failure
        case .stopped: return StepFailure("it was stopped")
        case .journal(let failure): throw failure
        }
    }

    /// What the stage wants to be kept with its start.
    private func firstCheckpoint(of key: StepKey, _ stage: PlannedStage) async -> [UInt8]? {
        guard let first = stage.stage.first, stage.forEach == nil || key.item != nil,
            state.table.step(key)?.checkpoint == nil
        else { return nil }
        return await StepCall.first(first, scope(for: key), snapshot.record.folders)
    }

    /// Evaluates what the document says around the stage's own work; true when its failure is to be tolerated.
    private func settings(of key: StepKey, _ stage: PlannedStage) async throws(StageFailure) -> Bool {
        if stage.hasConstantSettings { return stage.isFinal || stage.continuesOnFailure.constant == true }
        return try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            _ = try stage.retries.policy(in: scope)
            _ = try stage.deadline?.value(in: scope)
            _ = try stage.discretionary.value(in: scope)
            let tolerates = try stage.continuesOnFailure.value(in: scope)
            return stage.isFinal || tolerates
        }
    }

    private func isTrue(
        _ condition: Expression, _ key: StepKey, _ stage: PlannedStage
    ) async throws(StageFailure) -> Bool {
        let value = try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            try condition.evaluate(in: scope)
        }
        if let flag = value.bool { return flag }
        throw .definite(
            StepFailure(
                "'when' of stage '\(key.stage)' gives \(value.kindName), not true or false",
                hint: "compare it, for example with == or != null", place: stage.place))
    }

    /// Until when what a stage reads of another is good: all of it where the author said so, else the links that it
    /// reads.
    private func expiry(
        of source: StepKey, readBy stage: PlannedStage
    ) async throws(StageFailure) -> StepExpiry? {
        guard let planned = state.table.plan.stage(source.stage), let step = state.table.step(source),
            case .succeeded(let captures) = step.state, let end = step.ended
        else { return nil }
        if planned.expires == nil, step.expires == nil { return nil }
        let given = state.table.values.opened(captures)
        if planned.expires == nil {
            let read = given.filter { stage.reads($0.name, of: source.stage) }
            let time = read.compactMap { LinkExpiry.earliest(in: $0.value, after: end) }.min()
            return time.map { StepExpiry(holder: source, since: end, time: $0) }
        }
        if let known = snapshot.expiry(source) { return known }
        // Nothing is journaled for it: the service named no time, or the value is a mistake, which is told here.
        let time = try await context(for: source, planned).evaluate(with: { $0.own = given }) {
            scope throws(EvaluationFailure) in
            try planned.expiry(of: given, endedAt: end, in: scope)
        }
        return time.map { StepExpiry(holder: source, since: end, time: $0) }
    }

    /// Evaluates what a stage is repeated over, and what bounds that.
    func items(of key: StepKey) async throws(JournalFailure) -> Result<ForEachItems, StepFailure> {
        guard let stage = state.table.plan.stage(key.stage), let forEach = stage.forEach else {
            return .success(ForEachItems(elements: [], concurrencyLimit: nil))
        }
        do throws(StageFailure) {
            let context = context(for: key, stage)
            let limit = try await context.evaluate { scope throws(EvaluationFailure) in
                try stage.concurrency?.value(in: scope)
            }
            let tolerance = try await context.evaluate { scope throws(EvaluationFailure) in
                try stage.tolerance?.value(in: scope)
            }
            let stops = try await context.evaluate { scope throws(EvaluationFailure) in
                try stage.stopsOnFailure.value(in: scope)
            }
            var elements: [JSON]?
            if case .elements(let expression) = forEach {
                let value = try await context.evaluate { scope throws(EvaluationFailure) in
                    try expression.evaluate(in: scope)
                }
                guard let array = value.array else {
                    throw StageFailure.definite(
                        StepFailure(
                            "'forEach' of stage '\(key.stage)' gives \(value.kindName), not an array",
                            hint: "give it an array, for example with split(…) or a capture that ends in []",
                            place: stage.place))
                }
                elements = array
            }
            return .success(
                ForEachItems(
                    elements: elements, concurrencyLimit: limit, tolerance: tolerance ?? .count(0),
                    stopsOnFailure: stops))
        } catch {
            return .failure(try failure(of: error))
        }
    }

    /// What a step's success is to be warned of.
    func warnings(of key: StepKey, _ captures: JSONObject) async throws(JournalFailure) -> [String] {
        guard let stage = state.table.plan.stage(key.stage) else { return [] }
        var messages: [String] = []
        let isRepeated = stage.forEach != nil
        let own = state.table.values.opened(captures)
        for warning in stage.warnings where !isRepeated || warning.readsItem == (key.item != nil) {
            do throws(StageFailure) {
                let message = try await context(for: key, stage).evaluate(with: { $0.own = own }) {
                    scope throws(EvaluationFailure) in
                    try warning.condition.evaluateCondition(in: scope)
                        ? try warning.message.evaluateText(in: scope) : nil
                }
                if let message { messages.append(message) }
            } catch {
                messages.append("'warn' could not be judged: \(try failure(of: error).title)")
            }
        }
        return messages
    }

    /// What a step's success has cost; nil, with the reason, where that can't be told.
    func cost(of key: StepKey, _ captures: JSONObject) async throws(JournalFailure) -> (Double?, problem: String?) {
        guard let stage = state.table.plan.stage(key.stage), let cost = stage.cost,
            stage.forEach == nil || key.item != nil
        else { return (nil, nil) }
        let own = state.table.values.opened(captures)
        do throws(StageFailure) {
            let value = try await context(for: key, stage).evaluate(with: {
                $0.own = own
                $0.response = notes.response(of: key)
            }) { scope throws(EvaluationFailure) in try cost.evaluate(in: scope) }
            guard let number = value.number?.double, number.isFinite else {
                return (nil, "'cost' gives \(value.kindName), not a number")
            }
            return (number, nil)
        } catch {
            return (nil, "'cost' could not be judged: \(try failure(of: error).title)")
        }
    }

    // MARK: Secrets

    /// Looks all secrets up; the first that is missing, as a sentence, or nil. Those that are there are used and hidden
    /// in any case: who only tells what became of the job does without the rest.
    func readSecrets() async -> String? {
        var missing: String?
        let plan = state.table.plan
        for name in plan.secrets where !plan.optionalSecrets.contains(name) || state.table.values.secrets[name] == nil {
            if let value = await ports.secrets.secret(name) {
                state.table.values.secrets[name] = value
            } else if missing == nil, snapshot.record.needsSecret(name, in: plan) {
                missing = "the secret \(name) is not set"
            }
        }
        let values = state.table.values
        redactor.add(values.secrets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        redactor.add(values.secretInputs.map { ($0.name, $0.value.string ?? $0.value.text) })
        state.table.values.renewSealing(for: snapshot.steps.values)
        if (plan.stages + plan.finally).contains(where: { $0.captures.contains(where: \.isSecret) }) {
            for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) {
                conceal(state.table.values.opened(step.captures), of: key)
            }
        }
        return missing
    }

    /// Looks the secrets up again; true when one is another than in those that were used.
    func renewSecrets(since used: [String: String]) async -> Bool {
        let names = state.table.plan.secrets
        for name in names {
            guard let value = await ports.secrets.secret(name), value != state.table.values.secrets[name] else {
                continue
            }
            state.table.values.secrets[name] = value
            redactor.add([(name, value)])
        }
        state.table.values.renewSealing(for: snapshot.steps.values)
        return names.contains { state.table.values.secrets[$0] != used[$0] }
    }

    /// Values of captures that are secret are hidden from now on wherever something is shown.
    func conceal(_ captures: JSONObject, of key: StepKey) {
        guard let stage = state.table.plan.stage(key.stage) else { return }
        for declared in stage.captures where declared.isSecret {
            guard let value = captures[declared.name], value != .null else { continue }
            let values = value.array ?? [value]
            redactor.add(values.map { ("\(key.stage).\(declared.name)", $0.string ?? $0.text) })
        }
    }
}
