import JSONPath

/// Asks a program what it is.
struct PluginInquiry: Sendable {
    let program: PluginProgram
    let settings: PluginSettings

    static let question: JSON = ["type": "describe", "protocol": .number(JSONNumber(PluginProtocol.version))]

    /// Its description, which must name the kind that its file name does.
    func describe() async -> Result<PluginDescription, PluginFault> {
        let end = await ask()
        switch end.result {
        case .failure(let fault): return .failure(end.explained(fault))
        case .success(let description):
            guard description.kind == program.name else {
                return .failure(
                    PluginFault(
                        .nonsense, "calls its kind '\(description.kind)'",
                        hint: "its file must be called \(program.role.prefix)\(description.kind)"))
            }
            return .success(description)
        }
    }

    /// The whole run of the question.
    func ask(_ question: JSON = PluginInquiry.question) async -> ProgramEnd<PluginDescription> {
        let limits = settings.limits
        return await run.perform(limit: limits.describing, output: limits.description) { channel in
            await Self.answer(to: question, on: channel)
        }
    }

    private static func answer(
        to question: JSON, on channel: ProgramChannel
    ) async -> Result<PluginDescription, PluginFault> {
        do throws(PluginFault) {
            do throws(PluginFault) {
                try await channel.send(question)
            } catch {
                // A program may say what it is, or end, without listening: what it printed and how it ended tell more.
                guard error.kind == .deaf else { throw error }
            }
            let message = try await channel.next()
            guard case .description(let members) = message else { throw message.outOfTurn }
            return .success(try PluginDescription(members))
        } catch {
            return .failure(error)
        }
    }

    var run: ProgramRun {
        ProgramRun(
            path: program.path, folder: nil, environment: ProgramEnvironment.minimal(of: settings.environment),
            settings: settings)
    }
}
