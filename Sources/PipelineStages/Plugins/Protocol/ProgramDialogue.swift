import JSONPath
import PipelineCore

/// One conversation of a `resume`: from the first message to the program's last.
struct ProgramDialogue {
    typealias Context = ProgramStage.Context
    typealias Outcome = ProgramStage.Outcome

    /// The reason for which the conversation ends before its time.
    private enum Break: Error {
        case fault(PluginFault)
        case stage(StageFailure)
    }

    let context: Context
    let channel: ProgramChannel
    let program: PluginProgram
    let description: PluginDescription
    /// The configuration, of which a submit's digest is made.
    let body: [UInt8]

    init(
        context: Context, channel: ProgramChannel, program: PluginProgram, description: PluginDescription,
        body: [UInt8]
    ) {
        self.context = context
        self.channel = channel
        self.program = program
        self.description = description
        self.body = body
    }

    func run(_ first: JSON) async -> Result<Result<Outcome, StageFailure>, PluginFault> {
        do throws(Break) {
            try await send(first)
            while true {
                if let outcome = try await taken(try await next()) { return .success(.success(outcome)) }
            }
        } catch {
            switch error {
            case .fault(let fault): return .failure(fault)
            case .stage(let failure): return .success(.failure(failure))
            }
        }
    }

    /// Does what a message asks for; an outcome when it was the last one.
    private func taken(_ message: PluginMessage) async throws(Break) -> Outcome? {
        switch message {
        case .progress(let progress): context.report(progress)
        case .commit(let checkpoint):
            let kept = try keepable(checkpoint)
            try await staged { () async throws(StageFailure) in try await context.commit(kept) }
            try await send(["type": "committed"])
        case .intent: return try await submit()
        case .finished(let captures): return .finished(try declared(captures))
        case .waiting(let checkpoint, let wait, let reason): return try waiting(checkpoint, wait, reason)
        case .unknown(let checkpoint, let reason): return try await lost(checkpoint, reason)
        case .failed(let refusal):
            var failed = ProgramStage.tryFailure(refusal, in: context)
            // What was submitted has ended badly: a retry submits another.
            if !refusal.isRetryable { failed.endsRemoteJob = await context.hasSubmitted }
            throw .stage(.failed(failed))
        case .description, .submitted, .cancelled, .decorated, .delivered: throw .fault(message.outOfTurn)
        }
        return nil
    }

    private func waiting(_ checkpoint: JSON, _ wait: PluginWait, _ reason: String?) throws(Break) -> Outcome {
        let time: Timestamp =
            switch wait {
            case .length(let duration): context.now + duration
            case .moment(let moment): moment
            }
        let detail = reason.map { String(context.redact($0).prefix(200)) }
        return .waiting(try keepable(checkpoint), until: .at(time), WaitReason(.poll, detail: detail))
    }

    // MARK: Submits

    /// The ledger's order around the program's submit: `intent` and `sending` are durable before the program is told to
    /// go ahead, its captures together with `submitted`.
    private func submit() async throws(Break) -> Outcome? {
        let exchange = SubmitExchange()
        let outcome = try await staged { () async throws(StageFailure) in
            try await context.submit(
                body: body,
                send: { record throws(StageFailure) in try await sent(record.key, exchange) },
                reconcile: { _ throws(StageFailure) in
                    if exchange.isStopped { throw .stopped }
                    return settlement
                })
        }
        switch outcome {
        case .submitted:
            if exchange.isAnswered { return nil }
            try await tellSubmitted()
            return nil
        case .waiting(let time): return .waiting(exchange.checkpoint ?? none, until: .at(time), WaitReason(.settle))
        case .unknown(let submit): return .unknown(exchange.checkpoint, submit)
        }
    }

    private var none: ProgramCheckpoint { ProgramCheckpoint([:]) }

    private var settlement: Reconciliation {
        description.submitsOnce
            ? .resend
            : .unsettled(
                reason: "the answer to the submit of the plugin '\(program.name)' is lost, and it does not say that it "
                    + "can send again under the same key")
    }

    /// The submit was accepted before, or a person has settled it: the program goes on as after its own `submitted`.
    private func tellSubmitted() async throws(Break) {
        let (key, captures) = try await staged { () async throws(StageFailure) in
            try await context.evaluate { scope throws(EvaluationFailure) in (scope.ownKey, scope.own) }
        }
        try await send(["type": "submitted", "key": JSON(key), "captures": .object(captures)])
    }

    private func sent(_ key: String, _ exchange: SubmitExchange) async throws(StageFailure) -> SubmitResponse {
        do throws(Break) {
            try await send(["type": "submit", "key": .string(key)])
            while true {
                switch try await next() {
                case .progress(let progress): context.report(progress)
                case .submitted(let captures):
                    exchange.isAnswered = true
                    return .accepted(try declared(captures))
                case .failed(let refusal): return answer(refusal)
                case .unknown(let checkpoint, let reason):
                    exchange.checkpoint = try checkpoint.map { json throws(Break) in try keepable(json) }
                    return .uncertain(StepFailure(context.redact(reason ?? "the plugin lost track of its submit")))
                case let message: throw .fault(message.outOfTurn)
                }
            }
        } catch {
            if channel.isStopped {
                exchange.isStopped = true
                throw .stopped
            }
            switch error {
            case .stage(let failure): throw failure
            case .fault(let fault):
                let text = "the plugin '\(program.name)' \(fault.message), in the middle of its submit"
                return .uncertain(StepFailure(context.redact(text), hint: fault.hint, place: context.facts.place))
            }
        }
    }

    private func answer(_ refusal: PluginRefusal) -> SubmitResponse {
        let failure = ProgramStage.tryFailure(refusal, in: context)
        if !refusal.isRetryable { return .refused(failure.failure) }
        return refusal.isKnownNotAccepted ? .notAccepted(failure) : .uncertain(failure.failure)
    }

    /// The program itself says that it can't tell what became of its submit: so the ledger has it.
    private func lost(_ checkpoint: JSON?, _ reason: String?) async throws(Break) -> Outcome {
        let kept = try checkpoint.map { json throws(Break) in try keepable(json) }
        let why = context.redact(reason ?? "the plugin '\(program.name)' lost track of its submit")
        let outcome = try await staged { () async throws(StageFailure) in
            try await context.submit(
                body: body, send: { _ throws(StageFailure) in .uncertain(StepFailure(why)) },
                reconcile: { _ throws(StageFailure) in .unsettled(reason: why) })
        }
        if case .unknown(let submit) = outcome { return .unknown(kept, submit) }
        throw .fault(PluginFault(.nonsense, "said that its submit is unknown, but it was accepted before"))
    }

    // MARK: What may be kept

    /// Captures that the plugin has declared and that hold no secret they should not.
    private func declared(_ captures: JSONObject) throws(Break) -> JSONObject {
        for capture in captures {
            guard let declared = description.captures.first(where: { $0.name == capture.name }) else {
                throw .fault(
                    PluginFault(
                        .nonsense, "gave a capture '\(capture.name)' that its description does not have",
                        hint: "'captures' of the description names all of them"))
            }
            try refuseSecrets(in: capture.value, "its captures", isSealed: declared.isSecret)
        }
        return captures
    }

    private func keepable(_ checkpoint: JSON) throws(Break) -> ProgramCheckpoint {
        let kept = ProgramCheckpoint(checkpoint)
        try refuseSecrets(in: checkpoint, "its checkpoint")
        return kept
    }

    /// Nothing that is kept in the journal may hold a secret. What is sealed there may hold any but those of the
    /// configuration: that it gave before, for instance.
    private func refuseSecrets(in value: JSON, _ what: String, isSealed: Bool = false) throws(Break) {
        let text = value.text
        guard context.redact(text) != text else { return }
        let configured = isSealed ? secrets(in: String(decoding: body, as: UTF8.self)) : []
        if isSealed, configured.isDisjoint(with: secrets(in: text)) { return }
        throw .fault(
            PluginFault(
                .nonsense, "put a secret of its configuration into \(what)",
                hint: "it gets its configuration, with the secrets, at each resume; there is no need to keep them"))
    }

    /// The names of the secrets in a text.
    private func secrets(in text: String) -> Set<String> {
        Set(context.redact(text).matches(of: /‹secret:([^›]*)›/).map { String($0.output.1) })
    }

    // MARK: Errors

    private func next() async throws(Break) -> PluginMessage {
        do throws(PluginFault) { return try await channel.next() } catch { throw .fault(error) }
    }

    private func send(_ message: JSON) async throws(Break) {
        do throws(PluginFault) { try await channel.send(message) } catch { throw .fault(error) }
    }

    private func staged<Value>(_ work: () async throws(StageFailure) -> Value) async throws(Break) -> Value {
        do throws(StageFailure) { return try await work() } catch { throw .stage(error) }
    }
}

/// The facts that one submit brought to light besides its outcome; used by the one task of the conversation.
private final class SubmitExchange {
    /// True if the program itself said `submitted` in this conversation.
    var isAnswered = false
    var isStopped = false
    var checkpoint: ProgramCheckpoint?
}
