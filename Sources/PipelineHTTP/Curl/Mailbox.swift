import Synchronization

/// Letters for a thread that sleeps elsewhere: posting rings its bell when the box was empty.
final class Mailbox<Letter: Sendable>: Sendable {
    private struct State: Sendable {
        var letters: [Letter] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Rung under a lock of its own, so that after ``close()`` nothing touches what it rings, and whoever posts or reads
    /// meanwhile does not wait for the system call.
    private let bell = Mutex<(@Sendable () -> Void)?>(nil)

    /// Puts a letter in from any thread; false when the box is closed and nobody will read it.
    func post(_ letter: Letter) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.letters.append(letter)
            return (true, state.letters.count == 1)
        }
        if isFirst { bell.withLock { $0?() } }
        return isTaken
    }

    /// Sets what wakes the reader, who looks into the box after that.
    func attach(bell: @escaping @Sendable () -> Void) {
        self.bell.withLock { $0 = bell }
    }

    /// All letters so far, in their order.
    func takeAll() -> [Letter] {
        state.withLock { state in
            defer { state.letters = [] }
            return state.letters
        }
    }

    /// Accepts no more letters and returns those left.
    func close() -> [Letter] {
        bell.withLock { $0 = nil }
        return state.withLock { state in
            state.isClosed = true
            defer { state.letters = [] }
            return state.letters
        }
    }
}
