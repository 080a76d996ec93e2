import JSONPath
import PipelineCore

extension JobExecutor {
    /// Makes the steps of a repeated stage's items that have none yet.
    func expand(_ key: StepKey) async throws(JournalFailure) {
        guard let stage = plan.stage(key.stage), let forEach = stage.forEach else { return }
        do throws(StageFailure) {
            rooms[stage.id] = try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
                try stage.concurrency?.value(in: scope)
            }
        } catch {
            return try await fail(key, stage, error)
        }
        let values: [(Int, JSON)]
        switch forEach {
        case .items(let followed, _):
            values = snapshot.items(of: followed).compactMap { other, step in
                guard step.state.name == .succeeded, let item = other.item else { return nil }
                return (item, step.value ?? .null)
            }
        case .elements(let expression):
            do throws(StageFailure) {
                values = Array(try await elements(of: expression, key, stage).enumerated())
            } catch {
                return try await fail(key, stage, error)
            }
        }
        var changes = values.compactMap { step(of: StepKey(stage: key.stage, item: $0), sealed($1), stage) }
        if case .elements = forEach {
            // Items of an earlier run of the stage that the array no longer has.
            for (item, _) in snapshot.items(of: key.stage) where (item.item ?? 0) >= values.count {
                if var step = snapshot.steps[item], step.state == .pending {
                    step.state = .skipped
                    step.value = nil
                    step.version += 1
                    changes.append(.step(item, step))
                }
            }
        }
        if !changes.isEmpty { try await commit(changes) }
    }

    /// Whether the others go on when an item of the stage fails, as it was found when the stage began.
    private func tolerates(_ stage: PlannedStage) -> Bool {
        snapshot.steps[StepKey(stage: stage.id)]?.toleratesFailure == true
    }

    /// The change that makes an item's step, or gives one that has not begun its new value; nil for no change.
    private func step(of key: StepKey, _ value: JSON, _ stage: PlannedStage) -> JournalChange? {
        guard var step = snapshot.steps[key] else {
            var step = StepRecord(toleratesFailure: tolerates(stage), value: value)
            step.expires = expiry(ofItem: value)
            return .step(key, step)
        }
        guard step.state == .pending, step.value != value else { return nil }
        step.value = value
        step.expires = expiry(ofItem: value)
        step.version += 1
        return .step(key, step)
    }

    private func elements(
        of expression: Expression, _ key: StepKey, _ stage: PlannedStage
    ) async throws(StageFailure) -> [JSON] {
        let value = try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            try expression.evaluate(in: scope)
        }
        if let elements = value.array { return elements }
        throw .definite(
            StepFailure(
                "'forEach' of stage '\(key.stage)' gives \(value.kindName), not an array",
                hint: "give it an array, for example with split(…) or a capture that ends in []", place: stage.place))
    }

    /// Ends a repeated stage whose items have ended: its captures are the items' in order.
    func gather(_ key: StepKey) async throws(JournalFailure) {
        guard let stage = plan.stage(key.stage) else { return }
        // An item that its `when` skipped keeps its place, with null for its captures.
        let items = snapshot.items(of: key.stage)
            .filter { $0.value.state != .skipped || $0.value.value != nil }.sorted { $0.key < $1.key }
        let failed = items.compactMap { item, step -> (StepKey, StepFailure)? in
            if case .failed(let failure) = step.state { (item, failure) } else { nil }
        }
        if let (item, failure) = failed.first, !tolerates(stage) {
            var failure = failure
            failure.title = "item \(item.item ?? 0): \(failure.title)"
            return try await fail(key, stage, .definite(failure))
        }
        if items.contains(where: { !$0.value.state.isEnded }) {
            let failure = StepFailure(
                "not all items of stage '\(key.stage)' ran, since another stage failed", place: stage.place)
            return try await fail(key, stage, .definite(failure))
        }
        var captures = JSONObject()
        for name in items.reduce(
            into: stage.captures.map(\.name),
            { names, item in
                for member in item.value.captures where !names.contains(member.name) { names.append(member.name) }
            })
        {
            captures[name] = .array(
                items.map { item, step in
                    if case .succeeded(let values) = step.state { values[name] ?? .null } else { .null }
                })
        }
        try await change(key, .finished(captures), warnings: await warnings(of: stage, key, captures)) {
            $0.captures = captures
        }
    }

    /// Fails a step for good.
    func fail(_ key: StepKey, _ stage: PlannedStage, _ failure: StageFailure) async throws(JournalFailure) {
        switch failure {
        case .failed(let failed):
            let definite = AttemptFailure(failed.failure, kind: .definite)
            // A step that never began was not yet asked whether its failure matters.
            let setting = stage.continuesOnFailure
            let tolerates = setting.constant == nil && (try? setting.value(in: scope(for: key))) == true
            try await change(key, .tryFailed(definite, stage.retry, random: 0)) { step in
                if tolerates { step.toleratesFailure = true }
            }
        case .stopped: break
        case .journal(let failure): throw failure
        }
    }

    /// What a step's success is to be warned of.
    func warnings(of stage: PlannedStage, _ key: StepKey, _ captures: JSONObject) async -> [String] {
        var messages: [String] = []
        let isRepeated = stage.forEach != nil
        let own = opened(captures)
        for warning in stage.warnings where !isRepeated || warning.readsItem == (key.item != nil) {
            do throws(StageFailure) {
                let message = try await context(for: key, stage).evaluate(with: { $0.own = own }) {
                    scope throws(EvaluationFailure) in
                    try warning.condition.evaluateCondition(in: scope)
                        ? try warning.message.evaluateText(in: scope) : nil
                }
                if let message { messages.append(message) }
            } catch {
                guard case .failed(let failed) = error else { continue }
                messages.append("'warn' could not be judged: \(failed.failure.title)")
            }
        }
        return messages
    }

    /// What an expression of the engine's own is evaluated with.
    func context(for key: StepKey, _ stage: PlannedStage) -> StageContext<Int> {
        let step = snapshot.steps[key] ?? StepRecord()
        let host = StepHost(driver: self, facts: facts(of: key, stage, step), ports: ports, redactor: redactor)
        return StageContext<Int>(host: host) { _ in [] }
    }
}
