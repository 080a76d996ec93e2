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

/// Waits for a moment or a length that is known when the stage begins.
struct WaitStage: Stage {
    /// The time or event that it waits for, kept so that an expression is evaluated once.
    struct Checkpoint: Codable, Sendable {
        /// The time that the author gave; in checkpoints of version 0.1.0 also the end of a length.
        var end: Timestamp?
        /// The seconds from the stage's start: how long that is no clock changes that is set meanwhile.
        var seconds: Double?

        func end(from start: Timestamp) -> Timestamp { seconds.map { start + .seconds($0) } ?? end ?? start }
    }

    /// Of the two exactly one is given.
    let length: Setting<Duration>?
    let until: Template?

    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let checkpoint = if let checkpoint { checkpoint } else { try await end(in: context) }
        let end = checkpoint.end(from: context.facts.started)
        if context.now >= end { return .finished([:]) }
        return .waiting(checkpoint, until: .at(end), WaitReason(.time))
    }

    private func end(in context: StageContext<Checkpoint>) async throws(StageFailure) -> Checkpoint {
        if let length { return Checkpoint(seconds: try await context.value(of: length).seconds) }
        let text = try await context.evaluate { scope throws(EvaluationFailure) in
            try until?.evaluateText(in: scope) ?? ""
        }
        do throws(ValueSyntaxError) {
            return Checkpoint(end: try Timestamp.parse(text))
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
