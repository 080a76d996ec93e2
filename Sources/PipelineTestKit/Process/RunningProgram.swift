import CLibrary
import Dispatch
import Synchronization

/// A program that was started; what it writes is collected as it comes.
///
/// Two threads serve it: one reads its pipes, one waits for its end.
package final class RunningProgram: Sendable {
    private struct State: Sendable {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var cause: ProgramEnd.Cause?
        /// While false the process id is ours, also when the process has ended.
        var isReaped = false
        var isOverdue = false
        var watchers: [Watcher] = []

        /// Returns how often the text stands in the outputs.
        func count(of text: [UInt8]) -> Int { Self.count(of: text, in: output) + Self.count(of: text, in: errors) }

        private static func count(of text: [UInt8], in bytes: [UInt8]) -> Int {
            var (count, rest) = (0, bytes[...])
            while let found = rest.firstRange(of: text) {
                count += 1
                rest = rest[found.upperBound...]
            }
            return count
        }

        /// Takes out the watchers that have what they wait for.
        mutating func takeSatisfied() -> [Watcher] {
            let parts = watchers.map { ($0, $0.isSatisfied(self)) }
            watchers = parts.filter { !$0.1 }.map(\.0)
            return parts.filter(\.1).map(\.0)
        }
    }

    private struct Watcher: Sendable {
        let isSatisfied: @Sendable (State) -> Bool
        let resume: @Sendable (Bool) -> Void
    }

    package let processID: Int32
    private let state = Mutex(State())
    private let ended = Gate()

    init(
        path: String, _ arguments: [String], environment: [String: String], folder: String?, limit: Duration
    ) throws(BuiltProgram.StartError) {
        let pipes = try ProgramPipes()
        processID = try pipes.spawn(path, arguments, environment: environment, folder: folder)
        let isRead = DispatchSemaphore(value: 0)
        LoopbackServer.startThread { [self] in
            pipes.read { bytes, isError in collect(bytes, isError: isError) }
            isRead.signal()
        }
        LoopbackServer.startThread { [self] in
            let cause = awaitEnd()
            // A child of its own may hold the pipes open for ever.
            _ = isRead.wait(timeout: .now() + .seconds(2))
            finish(cause)
        }
        let nanoseconds = Int(limit / .nanoseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in self?.expire()
        }
    }

    /// The way in which it ended; waits for that.
    package var end: ProgramEnd {
        get async {
            await ended.wait()
            return state.withLock { state in
                ProgramEnd(
                    cause: state.isOverdue ? .overdue : state.cause ?? .overdue,
                    output: String(decoding: state.output, as: UTF8.self),
                    errors: String(decoding: state.errors, as: UTF8.self))
            }
        }
    }

    package var isRunning: Bool { !ended.isOpen }

    /// The text that it has written to both outputs so far.
    package var text: String {
        state.withLock { String(decoding: $0.output + $0.errors, as: UTF8.self) }
    }

    /// Sends a signal, unless it has ended.
    package func signal(_ number: Int32) {
        state.withLock { state in
            if !state.isReaped { kill(processID, number) }
        }
    }

    /// Returns when it has written the text to its outputs, so many times; false when it ended without.
    package func hasWritten(_ text: String, times: Int = 1) async -> Bool {
        let text = Array(text.utf8)
        return await isSo { $0.count(of: text) >= times }
    }

    /// Returns when it has written more than that many bytes to its standard output, with how many; nil when it ended
    /// without.
    package func outputCount(above count: Int) async -> Int? {
        guard await isSo({ $0.output.count > count }) else { return nil }
        return state.withLock { $0.output.count }
    }

    private func isSo(_ isSatisfied: @escaping @Sendable (State) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let watcher = Watcher(isSatisfied: isSatisfied) { continuation.resume(returning: $0) }
            let isThere = state.withLock { state -> Bool? in
                if watcher.isSatisfied(state) { return true }
                if state.cause != nil { return false }
                state.watchers.append(watcher)
                return nil
            }
            if let isThere { watcher.resume(isThere) }
        }
    }
}

extension RunningProgram {
    private func collect(_ bytes: ArraySlice<UInt8>, isError: Bool) {
        let satisfied = state.withLock { state in
            if isError { state.errors += bytes } else { state.output += bytes }
            return state.takeSatisfied()
        }
        for watcher in satisfied { watcher.resume(true) }
    }

    /// Leaves the id taken until nobody can send a signal to it any more (waitid(2), WNOWAIT).
    private func awaitEnd() -> ProgramEnd.Cause {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return state.withLock { state in
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            state.isReaped = true
            return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
        }
    }

    private func finish(_ cause: ProgramEnd.Cause) {
        let watchers = state.withLock { state in
            state.cause = cause
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.resume(false) }
        ended.open()
    }

    private func expire() {
        state.withLock { state in
            guard !state.isReaped else { return }
            state.isOverdue = true
            kill(processID, SIGKILL)
        }
    }
}
