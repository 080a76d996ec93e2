import JSONPath
import PipelineCore

/// A program of the author's, with its arguments: it gets the notification as JSON on its standard input, and takes it by
/// ending with status 0.
struct CommandSink: NotificationSink {
    /// The program and its arguments; a relative path with a slash starts from the document's folder.
    let words: [String]
    let folder: String
    let environment: [String: String]

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        guard let first = words.first, !first.isEmpty else {
            throw NotificationFailure(
                "the notification's command has no program", hint: "name one as its first word", isRetryable: false)
        }
        let isRelative = first.contains("/") && !first.hasPrefix("/")
        let program = ShortProgram(
            program: isRelative ? "\(folder)/\(first)" : first, arguments: Array(words.dropFirst()),
            environment: environment, folder: ExecutableLookup.exists(folder) ? folder : nil)
        var input: [UInt8] = []
        notification.json.write(into: &input)
        try await program.run(input: input + [UInt8(ascii: "\n")])
    }
}
