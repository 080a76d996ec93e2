import JSONPath
import PipelineCore

/// One question to a program that answers it and ends: what decorators and sinks are, a stage's conversation in small.
struct ProgramQuestion: Sendable {
    let program: PluginProgram
    let settings: PluginSettings

    /// The reason why there is no answer.
    struct Failure: Error {
        /// A sentence that names the program, and its own hint; may hold secrets of the configuration, and is long enough
        /// for whoever shows it to find them before it is cut.
        let message: String
        let hint: String?
        let isRetryable: Bool
    }

    /// Starts the program and gives what `read` makes of its answer; `progress` is passed over.
    ///
    /// - Parameter read: nil for a message that is no answer to the question.
    func ask<ServiceResponse: Sendable>(
        _ question: JSON, read: @escaping @Sendable (PluginMessage) throws(PluginFault) -> ServiceResponse?
    ) async throws(Failure) -> ServiceResponse {
        let run = ProgramRun(
            path: program.path, folder: nil, environment: ProgramEnvironment.minimal(of: settings.environment),
            settings: settings)
        let end = await run.perform(limit: settings.limits.answering, output: settings.limits.description) { channel in
            await Self.answer(to: question, on: channel, read)
        }
        switch end.result {
        case .success(.success(let answer)): return answer
        case .success(.failure(let refusal)):
            throw Failure(
                message: "\(name): \(refusal.message)", hint: refusal.hint, isRetryable: refusal.isRetryable)
        case .failure(let fault):
            let told = end.explained(fault)
            let log = end.log.lastLines(3, width: Self.told) { $0 }.map { "; its log ends with: \($0)" } ?? ""
            throw Failure(
                message: "\(name) \(told.message(limit: Self.told) { $0 })\(log)",
                hint: told.hint ?? "'pipeline plugins test \(program.path)' looks into it",
                isRetryable: end.wasKilled && fault.kind == .ended || end.wasStopped || fault.kind == .notNow)
        }
    }

    /// The number of bytes that are told of what a program printed.
    private static let told = 4096

    private var name: String { "the \(program.role.rawValue) '\(program.name)'" }

    private static func answer<ServiceResponse: Sendable>(
        to question: JSON, on channel: ProgramChannel,
        _ read: @Sendable (PluginMessage) throws(PluginFault) -> ServiceResponse?
    ) async -> Result<Result<ServiceResponse, PluginRefusalError>, PluginFault> {
        do throws(PluginFault) {
            try await channel.send(question)
            while true {
                let message = try await channel.next()
                if case .progress = message { continue }
                if case .failed(let refusal) = message { return .success(.failure(PluginRefusalError(refusal))) }
                guard let answer = try read(message) else { throw message.outOfTurn }
                return .success(.success(answer))
            }
        } catch {
            return .failure(error)
        }
    }
}

/// A program's own word that it failed, as the failure of a question.
struct PluginRefusalError: Error, Sendable {
    let message: String
    let hint: String?
    let isRetryable: Bool

    init(_ refusal: PluginRefusal) {
        message = refusal.message
        hint = refusal.hint
        isRetryable = refusal.isRetryable
    }
}
