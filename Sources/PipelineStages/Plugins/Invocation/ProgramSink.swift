import JSONPath
import PipelineCore

/// A notification sink that is a program: it is started for each notification and says when it is delivered.
struct ProgramSink: NotificationSink {
    let program: PluginProgram
    let configuration: JSON
    let settings: PluginSettings

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        let question: JSON = [
            "type": "notify", "protocol": .number(JSONNumber(PluginProtocol.version)),
            "configuration": configuration, "notification": notification.json,
        ]
        do throws(ProgramQuestion.Failure) {
            try await ProgramQuestion(program: program, settings: settings).ask(question) { message -> Void? in
                if case .delivered = message { () } else { nil }
            }
        } catch {
            let redactor = Redactor(Self.strings(of: configuration).enumerated().map { ("configuration", $1) })
            throw NotificationFailure(
                redactor.redact(error.message), hint: error.hint.map { redactor.redact($0) },
                isRetryable: error.isRetryable)
        }
    }

    /// The longer strings of the configuration: any of them may be a secret, and no message needs them.
    private static func strings(of value: JSON) -> [String] {
        switch value {
        case .string(let text): text.utf8.count < 8 ? [] : [text]
        case .array(let elements): elements.flatMap { strings(of: $0) }
        case .object(let members): members.flatMap { strings(of: $0.value) }
        case .null, .bool, .number: []
        }
    }
}
