import Synchronization

/// The end of what a program writes to standard error: its log, of which a failure shows the last lines.
final class ProgramLog: Sendable {
    private struct State {
        var tail: [UInt8] = []
        var count = 0
    }

    private static let kept = 32 << 10
    private let state = Mutex(State())

    /// Takes bytes in and says how many there were so far.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        state.withLock { state in
            state.count += bytes.count
            state.tail.append(contentsOf: bytes.suffix(Self.kept))
            if state.tail.count > 2 * Self.kept { state.tail.removeFirst(state.tail.count - Self.kept) }
            return state.count
        }
    }

    /// The last lines, redacted as a whole before they are cut, so that no half of a secret remains.
    func lastLines(_ limit: Int = 12, width: Int = 400, redact: (String) -> String) -> String? {
        var (tail, count) = state.withLock { ($0.tail[...], $0.count) }
        if tail.count < count {
            // The first line is not whole, and could begin in the middle of a secret.
            guard let end = tail.firstIndex(of: UInt8(ascii: "\n")) else { return "(one long line)" }
            tail = tail[(end + 1)...]
        }
        let text = redact(String(decoding: tail, as: UTF8.self))
        let lines = text.split(whereSeparator: \.isNewline).suffix(limit)
        return lines.isEmpty ? nil : lines.map { $0.prefix(width) }.joined(separator: "\n")
    }
}
