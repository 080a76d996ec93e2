import Subprocess
import Synchronization
import SystemPackage

/// The user's command for secrets: started with a secret's name, it prints the value. Each is asked for once.
final class SecretCommand: Sendable {
    private let words: [String]
    private let known = Mutex<[String: String]>([:])

    /// Nil when there is no command.
    init?(_ words: [String]) {
        guard !words.isEmpty else { return nil }
        self.words = words
    }

    /// Returns what it printed, without the last line's end; nil when it failed or knows of none.
    func secret(_ name: String) async -> String? {
        if let value = known.withLock({ $0[name] }) { return value }
        let program: Executable = words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0])
        let result = try? await Subprocess.run(
            program, arguments: Arguments(Array(words.dropFirst()) + [name]), output: .string(limit: 64 << 10),
            error: .discarded)
        guard let result, result.terminationStatus.isSuccess else { return nil }
        let value = LineEnd.removed(from: result.standardOutput)
        known.withLock { $0[name] = value }
        return value
    }
}
