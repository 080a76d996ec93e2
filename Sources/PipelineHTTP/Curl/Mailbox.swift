import Synchronization

/// Letters for a thread that sleeps elsewhere: posting rings its bell when the box was empty.
final class Mailbox<Letter: Sendable>: Sendable {
    private struct State: Sendable {
        var letters: [Letter] = []
        var bell: (@Sendable () -> Void)?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Puts a letter in from any thread; false when the box is closed and nobody will read it.
    ///
    /// The bell is rung under the lock, so that after ``close()`` nothing touches what it rings.
    func post(_ letter: Letter) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.letters.append(letter)
            if state.letters.count == 1 { state.bell?() }
            return true
        }
    }

    /// Sets what wakes the reader.
    func attach(bell: @escaping @Sendable () -> Void) {
        state.withLock { $0.bell = bell }
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
        state.withLock { state in
            state.isClosed = true
            state.bell = nil
            defer { state.letters = [] }
            return state.letters
        }
    }
}
