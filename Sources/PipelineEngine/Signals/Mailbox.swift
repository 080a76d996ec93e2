import Synchronization

/// The messages that reach one reader from many, in order; any thread may post.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Message, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func post(_ message: Message) {
        let reader = state.withLock { state -> CheckedContinuation<Message, Never>? in
            if state.reader == nil { state.messages.append(message) }
            return state.reader.take()
        }
        reader?.resume(returning: message)
    }

    /// A message that is there already; nil when there is none.
    package func poll() -> Message? { state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() } }

    /// All messages that are there already.
    package func takeAll() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    package var isEmpty: Bool { state.withLock { $0.messages.isEmpty } }

    /// The next message; one reader at a time.
    ///
    /// With the isolation as a parameter the reader goes back to its actor by itself. Swift 6.3 counts on a function without
    /// one to do that, and leaves it out of a generic one that it has specialized (-Osize).
    package func next(isolation: isolated (any Actor)? = #isolation) async -> Message {
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
