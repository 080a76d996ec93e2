import ArgumentParser
import PipelineKit

/// The text that is piped in.
enum StandardInput {
    /// Refuses a command of which several arguments mean it: the second would find nothing.
    static func check(_ arguments: [String]) throws {
        guard arguments.count > 1 else { return }
        throw ValidationError("standard input can be read once: '\(arguments[0])' and '\(arguments[1])' both name it.")
    }

    /// All of it; nil when it is no UTF-8 or can't be read.
    static func text() -> String? { FileContent.text("/dev/stdin") }
}
