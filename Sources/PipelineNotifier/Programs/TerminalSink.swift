import CLibrary
import PipelineCore

/// A line on this process's own terminal, else on all terminals of this user that take messages (mesg(1)).
struct TerminalSink: NotificationSink {
    let showLine: @Sendable (String) -> Bool

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        let line = Self.shown("pipeline: \(notification.title) (job \(notification.job))")
        if showLine(line) { return }
        // The bell, and a line of its own.
        let bytes = Array("\u{07}\r\n\(line)\r\n".utf8)
        let written = Self.terminals().count { Self.write(bytes, to: $0) }
        guard written > 0 else {
            throw NotificationFailure(
                "no terminal of this user takes messages", hint: "'mesg y' in a terminal lets it take them",
                isRetryable: true)
        }
    }

    /// The text without what could move a cursor or change a terminal.
    private static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl ? " " : scalar
                }))
    }

    /// This user's pseudo-terminals (pts(4)) and consoles that others of the group may write to.
    private static func terminals() -> [String] {
        let pseudo = (0..<256).map { "/dev/pts/\($0)" }
        return (pseudo + (1..<13).map { "/dev/tty\($0)" }).filter { path in
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
            return status.st_uid == geteuid() && status.st_mode & S_IWGRP != 0
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return CLibrary.write(descriptor, bytes, bytes.count) == bytes.count
    }
}
