import Dispatch
import Synchronization

/// Gives back the memory that work took, once no job has come to rest for two seconds.
///
/// The C library keeps what was freed for later, and so does SQLite with pages: when 10,000 jobs have been taken up and
/// wait, that is a third of what the process has, for nothing. The code that ran is most of the rest.
package final class MemoryTrimmer: Sendable {
    private static let patience = 2.0

    private struct State {
        var latest = DispatchTime.now()
        /// True if a look is due.
        var isTimed = false
    }

    private let giveBack: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameter giveBack: called when nothing has happened for long enough, on a thread that may block.
    package init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

    /// A job came to rest, or the process has started.
    package func workEnded() {
        let begins = state.withLock { state in
            defer { state.isTimed = true }
            state.latest = .now()
            return !state.isTimed
        }
        if begins { look(after: Self.patience) }
    }

    private func look(after seconds: Double) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + seconds) { [weak self] in
            guard let self else { return }
            let left = state.withLock { state in
                let since = Double(DispatchTime.now().uptimeNanoseconds - state.latest.uptimeNanoseconds) / 1e9
                if since >= Self.patience { state.isTimed = false }
                return Self.patience - since
            }
            if left > 0 { look(after: left) } else { giveBack() }
        }
    }
}
