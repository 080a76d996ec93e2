import JSONPath
import PipelineCore

/// A stage that a program of its own does, in whatever language: each call starts it, talks to it in JSON lines, and
/// ends with it.
///
/// The program works in the document's folder, is told the folder for results, and gets its configuration, checkpoint
/// and the job's key in the first message. What it commits is durable before it is told so.
struct ProgramStage: Stage {
    typealias Checkpoint = ProgramCheckpoint
    typealias Context = StageContext<ProgramCheckpoint>
    typealias Outcome = StageOutcome<ProgramCheckpoint>

    let program: PluginProgram
    let description: PluginDescription
    let configuration: JSONTemplate
    let settings: PluginSettings

    func resume(from checkpoint: ProgramCheckpoint?, in context: Context) async throws(StageFailure) -> Outcome {
        let configuration = try await resolved(in: context)
        let first = message("resume", configuration, checkpoint, context.facts)
        let body = configuration.bytes
        let end = await run(context).perform(output: settings.limits.output) { channel in
            await ProgramDialogue(
                context: context, channel: channel, program: program, description: description, body: body
            ).run(first)
        }
        switch end.result {
        case .success(.success(let outcome)): return outcome
        case .success(.failure(.failed(var failed))):
            failed.failure.body = failed.failure.body ?? end.log.lastLines(redact: context.redact)
            throw .failed(failed)
        case .success(.failure(let failure)): throw failure
        case .failure(let fault): throw failure(of: fault, end, in: context)
        }
    }

    func cancel(from checkpoint: ProgramCheckpoint?, in context: Context) async throws(StageFailure) {
        let first = message("cancel", try await resolved(in: context), checkpoint, context.facts)
        let limits = settings.limits
        let end = await run(context).perform(limit: limits.cancelling, output: limits.output) { channel in
            await Self.cancellation(first, on: channel)
        }
        switch end.result {
        case .success(nil):
            guard await context.hasOpenSubmit else { return }
            // The program has kept nothing by which it could find what it began.
            throw .definite(context.openSubmitFailure())
        case .success(let refusal?): throw .failed(Self.tryFailure(refusal, in: context))
        case .failure(let fault): throw failure(of: fault, end, in: context)
        }
    }

    /// The program's word on its cancellation; nil when it is done.
    private static func cancellation(
        _ first: JSON, on channel: ProgramChannel
    ) async -> Result<PluginRefusal?, PluginFault> {
        do throws(PluginFault) {
            try await channel.send(first)
            while true {
                switch try await channel.next() {
                case .cancelled: return .success(nil)
                case .failed(let refusal): return .success(refusal)
                case .progress: continue
                case let message: throw message.outOfTurn
                }
            }
        } catch {
            return .failure(error)
        }
    }

    // MARK: Before

    /// The configuration with its expressions resolved, checked again now that their values are known.
    private func resolved(in context: Context) async throws(StageFailure) -> JSON {
        let value = try await context.evaluate { scope throws(EvaluationFailure) in
            try configuration.evaluate(in: scope)
        }
        guard let mistake = description.schema.mistakes(in: value).first else { return value }
        let spot = mistake.pointer.isEmpty ? "" : " at \(mistake.pointer)"
        throw .definite(
            StepFailure(
                context.redact(
                    "the configuration of stage '\(context.facts.step)' is wrong\(spot): \(mistake.message)"),
                hint: "an expression in it gives a value that '\(program.name)' does not take",
                place: context.facts.place))
    }

    private func message(
        _ type: String, _ configuration: JSON, _ checkpoint: ProgramCheckpoint?, _ facts: StageFacts
    ) -> JSON {
        [
            "type": .string(type), "protocol": .number(JSONNumber(PluginProtocol.version)),
            "configuration": configuration, "checkpoint": checkpoint?.json ?? .null,
            "job": ["id": .string(facts.job.text), "key": .string(facts.jobKey)], "stage": .string(facts.step.stage),
            "item": facts.step.item.map { .number(JSONNumber($0)) } ?? .null,
            "attempt": .number(JSONNumber(facts.attempt)), "overwrite": .bool(facts.overwrites),
            "folder": .string(facts.folders.output),
        ]
    }

    private func run(_ context: Context) -> ProgramRun {
        let facts = context.facts
        return ProgramRun(
            path: program.path, folder: facts.folders.document,
            environment: ProgramEnvironment.minimal(of: settings.environment).merging([
                "TRACEPARENT": TraceIdentity(facts.job).parent(facts.step)
            ]) { $1 }, settings: settings, mark: "\(facts.job)/\(facts.step) in \(facts.folders.output)")
    }

    // MARK: After

    private func failure<Value>(
        of fault: PluginFault, _ end: ProgramEnd<Value>, in context: Context
    ) -> StageFailure {
        if end.wasStopped { return .stopped }
        let told = end.explained(fault)
        let failure = StepFailure(
            "the plugin '\(program.name)' \(told.message(redact: context.redact))",
            hint: told.hint ?? "'pipeline plugins test \(program.path)' looks into it",
            body: end.log.lastLines(redact: context.redact), place: context.facts.place)
        if fault.kind == .notNow {
            return .failed(AttemptFailure(failure, kind: .silent, pause: FileFailure.pauseForDescriptors))
        }
        return .failed(AttemptFailure(failure, kind: end.wasKilled && fault.kind == .ended ? .answered : .definite))
    }

    static func tryFailure(_ refusal: PluginRefusal, in context: Context) -> AttemptFailure {
        AttemptFailure(
            StepFailure(
                String(context.redact(refusal.message).prefix(2000)),
                hint: refusal.hint.map { String(context.redact($0).prefix(2000)) },
                place: context.facts.place),
            kind: refusal.isRetryable ? .answered : .definite)
    }
}

/// The settings with which all plugins of a program are run.
package struct PluginSettings: Sendable {
    /// Our own environment, of which programs get a few variables.
    package let environment: [String: String]
    package let limits: PluginLimits
    let programs = ProgramCount()

    package init(environment: [String: String], limits: PluginLimits = PluginLimits()) {
        self.environment = environment
        self.limits = limits
    }
}
