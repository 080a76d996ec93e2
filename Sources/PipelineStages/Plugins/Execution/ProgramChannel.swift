import JSONPath
import Subprocess
import Synchronization

/// The conversation with a program that runs: lines from its standard output, messages to its standard input.
///
/// One task uses it, from the start of the program to the end of the conversation.
final class ProgramChannel {
    private let writer: StandardInputWriter
    private var output: SubprocessOutputSequence.Iterator
    private let limits: PluginLimits
    private let outputLimit: Int
    private let state: ProgramState
    private let kill: @Sendable () -> Void
    private var pending: [UInt8] = []
    /// The place where the next line begins, and up to where it was searched for its end.
    private var start = 0
    private var searched = 0
    private var received = 0
    private var hasEnded = false

    init(
        writer: StandardInputWriter, output: SubprocessOutputSequence.Iterator, limits: PluginLimits, outputLimit: Int,
        state: ProgramState, kill: @escaping @Sendable () -> Void
    ) {
        self.writer = writer
        self.output = output
        self.limits = limits
        self.outputLimit = outputLimit
        self.state = state
        self.kill = kill
    }

    /// True if the call was stopped from outside; the program was told by SIGTERM.
    var isStopped: Bool { state.isStopped }

    /// The next message of the program.
    func next() async throws(PluginFault) -> PluginMessage {
        guard let line = try await line() else { throw state.fault ?? PluginFault(.ended, "ended its output") }
        return try PluginMessage(line: line)
    }

    /// The next line without its end; nil after the last one. Blank lines are passed over.
    func line() async throws(PluginFault) -> ArraySlice<UInt8>? {
        while true {
            if let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = pending[start..<end]
                start = end + 1
                searched = start
                if line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) { return line }
                continue
            }
            searched = pending.count
            guard pending.count - start <= limits.line else {
                throw PluginFault(
                    .flood, "printed a line of more than \(limits.line) bytes",
                    hint: "each message is one line; large results belong in files of the job's folder")
            }
            if hasEnded { return try rest() }
            try await read()
        }
    }

    private func rest() throws(PluginFault) -> ArraySlice<UInt8>? {
        if let fault = state.fault { throw fault }
        guard start < pending.count else { return nil }
        defer { start = pending.count }
        return pending[start...]
    }

    private func read() async throws(PluginFault) {
        pending.removeFirst(start)
        searched -= start
        start = 0
        // An error of reading is the end of reading: what matters is how the program ended.
        guard let buffer = try? await output.next() else {
            hasEnded = true
            return
        }
        buffer.withUnsafeBytes { pending.append(contentsOf: $0) }
        received += buffer.count
        guard received <= outputLimit else {
            throw PluginFault(
                .flood, "printed more than \(outputLimit) bytes",
                hint: "progress is reported at most some times a second; a log belongs on standard error")
        }
    }

    /// Closes the program's standard input.
    func finish() async throws(PluginFault) {
        guard (try? await writer.finish()) != nil else { throw PluginFault(.deaf, "closed its standard input") }
    }

    /// Sends a message; returns when the program's standard input has taken it.
    func send(_ message: JSON) async throws(PluginFault) {
        var bytes = message.bytes
        bytes.append(UInt8(ascii: "\n"))
        let (writer, limit, kill, whole) = (writer, limits.writing, kill, bytes)
        let written = await withTaskGroup(of: Int?.self) { group in
            group.addTask { (try? await writer.write(whole)) ?? -1 }
            group.addTask {
                do { try await Task.sleep(for: limit) } catch { return 0 }
                kill()
                return nil
            }
            let first = await group.next() ?? 0
            group.cancelAll()
            return first
        }
        if written == bytes.count { return }
        if let fault = state.fault { throw fault }
        if written == nil {
            throw PluginFault(.deaf, "did not read its standard input for \(limit)", hint: "each answer must be read")
        }
        throw PluginFault(.deaf, "closed its standard input, or ended, before it was told how to go on")
    }
}

/// The knowledge of a program that runs, shared by the tasks that watch it.
final class ProgramState: Sendable {
    private struct State {
        var isStopped = false
        var hadToBeEnded = false
        var fault: PluginFault?
    }

    private let state = Mutex(State())

    var isStopped: Bool { state.withLock(\.isStopped) }
    var fault: PluginFault? { state.withLock(\.fault) }

    var hadToBeEnded: Bool { state.withLock(\.hadToBeEnded) }

    func endedByUs() { state.withLock { $0.hadToBeEnded = true } }
    func stop() { state.withLock { $0.isStopped = true } }
    /// Keeps the first fault.
    func fail(_ fault: PluginFault) { state.withLock { $0.fault = $0.fault ?? fault } }
}
