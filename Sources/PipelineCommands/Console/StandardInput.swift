import PipelineKit

/// The text that is piped in.
enum StandardInput {
    /// All of it; nil when it is no UTF-8 or can't be read.
    static func text() -> String? { FileContent.text("/dev/stdin") }
}
