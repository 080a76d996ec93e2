import JSONPath
import PipelineCore

/// The kind `wait`: lets time pass, without a task, a connection or memory.
enum WaitKind {
    static func make() -> StageKind {
        let duration = Field("for", FieldType<Setting<Duration>>.duration(), "How long, from the stage's start.")
        let until = Field("until", FieldType<Template>.template(), "Until when, a time in RFC 3339.")
        let callback = CallbackDefinition.field
        return StageKind(name: "wait", summary: "Lets time pass.", fields: [duration, until, callback]) { reading in
            let reader = reading.reader
            let pushed = reader.optional(callback)
            let length = reader.optional(duration)
            let time = reader.optional(until)
            let hasTime = reader.has("for") || reader.has("until")
            guard hasTime != reader.has("callback"), !(reader.has("for") && reader.has("until")) else {
                reader.findings.report(
                    reader.place,
                    "a wait has one of \"for\", a duration, \"until\", a time, and \"callback\", a push",
                    hint: "for example \"for\": \"5m\"; \"deadline\" limits how long a push is waited for")
                return nil
            }
            if let pushed {
                return AnyStage(CallbackStage(callback: pushed), coding: .json, work: .wait, callback: pushed)
            }
            guard length != nil || time != nil else { return nil }
            Self.check(time, reader)
            return AnyStage(WaitStage(length: length, until: time), coding: .json, work: .wait)
        }
    }

    private static func check(_ time: Template?, _ reader: ObjectReader) {
        guard let text = time?.constant, let place = reader.place(of: "until") else { return }
        do throws(ValueSyntaxError) {
            _ = try Timestamp.parse(text)
        } catch {
            reader.findings.report(place, error.message, hint: error.hint)
        }
    }
}

/// Waits for a moment that is known when the stage begins.
struct WaitStage: Stage {
    /// The moment, kept so that an expression is evaluated once.
    struct Checkpoint: Codable, Sendable { var end: Timestamp }

    /// Of the two exactly one is given.
    let length: Setting<Duration>?
    let until: Template?

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let end = if let checkpoint { checkpoint.end } else { try await end(in: context) }
        if context.now >= end { return .finished([:]) }
        return .waiting(Checkpoint(end: end), until: .at(end), WaitReason(.time))
    }

    private func end(in context: StageContext<Checkpoint>) async throws(StageFailure) -> Timestamp {
        if let length {
            let duration = try await context.value(of: length)
            return context.facts.started + duration
        }
        let text = try await context.evaluate { scope throws(EvaluationFailure) in
            try until?.evaluateText(in: scope) ?? ""
        }
        do throws(ValueSyntaxError) {
            return try Timestamp.parse(text)
        } catch {
            throw .definite(StepFailure("'until': \(error.message)", hint: error.hint, place: context.facts.place))
        }
    }
}

/// Waits for a push. That it came is its end, or that it brought what is captured: there is nobody to ask.
struct CallbackStage: Stage {
    struct Checkpoint: Codable, Sendable {}

    let callback: CallbackDefinition

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        if callback.capture.isEmpty {
            if await context.isPushed { return .finished([:]) }
        } else if let values = await callback.values(in: context) {
            return .finished(values)
        }
        return .waiting(Checkpoint(), until: .callback(orAt: nil), WaitReason(.callback))
    }
}
