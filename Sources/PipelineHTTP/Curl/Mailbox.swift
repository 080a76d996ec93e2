import Synchronization

/// Messages for a thread that sleeps elsewhere: posting wakes it when the box was empty.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State: Sendable {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Called under a lock of its own, so that after ``close()`` nothing touches what it wakes, and whoever posts or reads
    /// meanwhile does not wait for the system call.
    private let wakeup = Mutex<(@Sendable () -> Void)?>(nil)

    /// Puts a message in from any thread; false when the box is closed and nobody will read it.
    func post(_ message: Message) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.messages.append(message)
            return (true, state.messages.count == 1)
        }
        if isFirst { wakeup.withLock { $0?() } }
        return isTaken
    }

    /// Sets what wakes the reader, who looks into the box after that.
    func attach(wakeup: @escaping @Sendable () -> Void) {
        self.wakeup.withLock { $0 = wakeup }
    }

    /// All messages so far, in their order.
    func takeAll() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Accepts no more messages and returns those left.
    func close() -> [Message] {
        wakeup.withLock { $0 = nil }
        return state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
    }
}
