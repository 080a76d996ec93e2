import JSONPath
import PipelineCore

/// Finds out what the law of a job asks about one step: expressions around its stage's own work, which may need facts,
/// and what the stage wants to be kept with its start.
struct StepEvaluator: Sendable {
    let key: StepKey
    let stage: PlannedStage
    /// The step as it is when something is asked.
    let step: StepRecord
    let values: JobValues
    let clock: any WallClock
    let notes: NoteBook
    /// Makes the engine's side of a call of the step's stage; facts that an expression needs are kept through it.
    let host: @Sendable () async -> StepHost

    // MARK: Before it begins

    /// Evaluates the step's `when`, its settings and what it reads, so that a value that is wrong fails it at once.
    func prepare(reading sources: [StepEvaluator]) async throws(JournalFailure) -> StepPreparation {
        do throws(StageFailure) {
            if let condition = stage.condition, (key.item != nil) == stage.conditionReadsItem,
                try await !isTrue(condition)
            {
                return .skipped
            }
            let tolerates = try await tolerates()
            if stage.hasValues(of: key) {
                try await evaluate { scope throws(EvaluationFailure) in try stage.checkValues(in: scope) }
            }
            for source in sources {
                if let found = try await source.expiry(readBy: stage), found.time <= clock.now {
                    return .expired(found)
                }
            }
            return .ready(tolerates: tolerates, checkpoint: try await firstCheckpoint())
        } catch {
            return .failed(try failure(of: error))
        }
    }

    private func isTrue(_ condition: Expression) async throws(StageFailure) -> Bool {
        let value = try await evaluate { scope throws(EvaluationFailure) in try condition.evaluate(in: scope) }
        if let flag = value.bool { return flag }
        throw .definite(
            StepFailure(
                "'when' of stage '\(key.stage)' gives \(value.kindName), not true or false",
                hint: "compare it, for example with == or != null", place: stage.place))
    }

    /// Evaluates what the document says around the stage's own work; true when its failure is to be tolerated.
    private func tolerates() async throws(StageFailure) -> Bool {
        if stage.hasConstantSettings { return stage.isFinal || stage.continuesOnFailure.constant == true }
        return try await evaluate { scope throws(EvaluationFailure) in
            _ = try stage.retries.policy(in: scope)
            _ = try stage.deadline?.value(in: scope)
            _ = try stage.discretionary.value(in: scope)
            let tolerates = try stage.continuesOnFailure.value(in: scope)
            return stage.isFinal || tolerates
        }
    }

    /// Until when what another stage reads of this step is good: all of it where the author said so, else the links that
    /// are read.
    private func expiry(readBy reader: PlannedStage) async throws(StageFailure) -> StepExpiry? {
        guard case .succeeded(let captures) = step.state, let end = step.ended else { return nil }
        if stage.expires == nil || step.expires != nil { return stage.expiry(of: key, step, readBy: reader, values) }
        // Nothing is journaled for it: the service named no time, or the value is a mistake, which is told here.
        let given = values.opened(captures)
        let time = try await evaluate(with: { $0.own = given }) { scope throws(EvaluationFailure) in
            try stage.expiry(of: given, endedAt: end, in: scope)
        }
        return time.map { StepExpiry(holder: key, since: end, time: $0) }
    }

    /// Returns what the stage wants to be kept with its start.
    private func firstCheckpoint() async throws(StageFailure) -> [UInt8]? {
        guard let first = stage.stage.first, stage.forEach == nil || key.item != nil, step.checkpoint == nil else {
            return nil
        }
        return await StepCall.first(first, try await host().scope())
    }

    /// Evaluates what bounds the stage's items, and with `elements` what it is repeated over.
    func items(elements isAsked: Bool) async throws(JournalFailure) -> Result<ForEachItems, AttemptFailure> {
        guard let forEach = stage.forEach else {
            return .success(ForEachItems(elements: [], concurrencyLimit: nil))
        }
        do throws(StageFailure) {
            let limit = try await evaluate { scope throws(EvaluationFailure) in
                try stage.concurrency?.value(in: scope)
            }
            let tolerance = try await evaluate { scope throws(EvaluationFailure) in
                try stage.tolerance?.value(in: scope)
            }
            let stops = try await evaluate { scope throws(EvaluationFailure) in
                try stage.stopsOnFailure.value(in: scope)
            }
            var elements: [JSON]?
            if isAsked, case .elements(let expression) = forEach { elements = try await array(of: expression) }
            return .success(
                ForEachItems(
                    elements: elements, concurrencyLimit: limit, tolerance: tolerance ?? .count(0),
                    stopsOnFailure: stops))
        } catch {
            return .failure(try failure(of: error))
        }
    }

    private func array(of expression: Expression) async throws(StageFailure) -> [JSON] {
        let value = try await evaluate { scope throws(EvaluationFailure) in try expression.evaluate(in: scope) }
        if let array = value.array { return array }
        throw .definite(
            StepFailure(
                "'forEach' of stage '\(key.stage)' gives \(value.kindName), not an array",
                hint: "give it an array, for example with split(…) or a capture that ends in []", place: stage.place))
    }

    // MARK: Once it has succeeded

    /// Returns what the step's success is to be warned of, and what it has cost; nil where that can't be told.
    func judge(_ captures: JSONObject) async throws(JournalFailure) -> (warnings: [String], cost: Double?) {
        let own = values.opened(captures)
        var warnings = try await warnings(own)
        let (cost, problem) = try await cost(own)
        if let problem { warnings.append(problem) }
        return (warnings, cost)
    }

    private func warnings(_ own: JSONObject) async throws(JournalFailure) -> [String] {
        var messages: [String] = []
        let isRepeated = stage.forEach != nil
        for warning in stage.warnings where !isRepeated || warning.readsItem == (key.item != nil) {
            do throws(StageFailure) {
                let message = try await evaluate(with: { $0.own = own }) { scope throws(EvaluationFailure) in
                    try warning.condition.evaluateCondition(in: scope)
                        ? try warning.message.evaluateText(in: scope) : nil
                }
                if let message { messages.append(message) }
            } catch {
                messages.append("'warn' could not be judged: \(try failure(of: error).failure.title)")
            }
        }
        return messages
    }

    /// Returns what a remote job has cost that ended without a result; nil where nobody can tell.
    func cost() async throws(JournalFailure) -> Double? {
        try await cost(values.opened(step.captures)).0
    }

    /// Returns what the end has cost; nil, with the reason, where that can't be told.
    private func cost(_ own: JSONObject) async throws(JournalFailure) -> (Double?, problem: String?) {
        guard let cost = stage.cost, stage.forEach == nil || key.item != nil else { return (nil, nil) }
        do throws(StageFailure) {
            let value = try await evaluate(with: {
                $0.own = own
                $0.response = notes.response(of: key)
            }) { scope throws(EvaluationFailure) in try cost.evaluate(in: scope) }
            guard let number = value.number?.double, number.isFinite else {
                return (nil, "'cost' gives \(value.kindName), not a number")
            }
            return (number, nil)
        } catch {
            return (nil, "'cost' could not be judged: \(try failure(of: error).failure.title)")
        }
    }

    // MARK: Evaluating

    private func evaluate<Value: Sendable>(
        with prepare: (inout Scope) -> Void = { _ in },
        _ work: (Scope) throws(EvaluationFailure) -> Value
    ) async throws(StageFailure) -> Value {
        try await StageContext<Int>(host: host()) { _ in [] }.evaluate(with: prepare, work)
    }

    private func failure(of error: StageFailure) throws(JournalFailure) -> AttemptFailure {
        switch error {
        case .failed(let failed): return failed
        case .stopped: return AttemptFailure(StepFailure("it was stopped"), kind: .definite)
        case .journal(let failure): throw failure
        }
    }
}
