import Glibc
import PipelineCore

/// What the background owner says for a person who looks why something happened: lines on standard error, which the
/// service manager or the starter keeps.
struct DaemonLog: Sendable {
    let clock: any WallClock

    /// One line, with the time; control characters are taken out.
    func note(_ text: String) {
        let safe = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        let line = Array("\(clock.now) \(safe)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
