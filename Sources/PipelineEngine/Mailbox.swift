import PipelineCore
import Synchronization

/// What reaches a driver from its stages, its timer and from outside, in order; any thread may post.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// A call of a stage has ended.
        case ended(StepKey, Result<StageOutcome<[UInt8]>, StageFailure>)
        /// A moment has come at which something may be due.
        case tick(Timestamp)
        /// The journal's inbox may hold a request.
        case inbox
        /// Everything is to stop.
        case stop(Stop)
    }

    /// How a job is to stop before its end.
    enum Stop: Sendable, Hashable {
        case suspend(SuspensionCause)
        case cancel
    }

    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Message, Never>?
    }

    private let state = Mutex(State())

    func post(_ message: Message) {
        let reader = state.withLock { state -> CheckedContinuation<Message, Never>? in
            if state.reader == nil { state.messages.append(message) }
            return state.reader.take()
        }
        reader?.resume(returning: message)
    }

    /// A message that is there already; nil when there is none.
    func poll() -> Message? { state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() } }

    /// The next message; one reader at a time.
    func next() async -> Message {
        await withCheckedContinuation { continuation in
            let message = state.withLock { state -> Message? in
                if !state.messages.isEmpty { return state.messages.removeFirst() }
                state.reader = continuation
                return nil
            }
            if let message { continuation.resume(returning: message) }
        }
    }
}
