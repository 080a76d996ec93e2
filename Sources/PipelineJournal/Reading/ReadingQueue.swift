import Dispatch
import PipelineCore

/// The queue in which readings are done one after the other, besides the writer.
final class ReadingQueue: Sendable {
    private let queue = DispatchQueue(label: "pipeline.journal.reader")

    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(JournalFailure) in try body() }) }
        }
        return try result.get()
    }

    /// Runs the body on a thread that may block.
    func runBlocking<Value: Sendable>(
        _ body: () throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        let result: Result<Value, JournalFailure> = queue.sync { Result { () throws(JournalFailure) in try body() } }
        return try result.get()
    }

    func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
    func sync(_ body: () -> Void) { queue.sync(execute: body) }
}
