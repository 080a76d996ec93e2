import Subprocess
import Synchronization
import SystemPackage

/// The user's command for secrets: started with a secret's name, it prints the value. Each is asked for once.
final class SecretCommand: Sendable {
    private let words: [String]
    private let known = Mutex<[String: String]>([:])
    private let problems = Mutex<[String: String]>([:])

    /// The longest time that it may take: a person may have to unlock what it asks.
    private static let limit = Duration.seconds(60)

    /// Nil when there is no command.
    init?(_ words: [String]) {
        guard !words.isEmpty else { return nil }
        self.words = words
    }

    /// Returns what it printed, without the last line's end; nil when it failed or knows of none.
    func secret(_ name: String) async -> String? {
        if let value = known.withLock({ $0[name] }) { return value }
        let answer = await withTaskGroup(of: Answer.self) { group in
            group.addTask { await self.ask(name) }
            group.addTask {
                try? await Task.sleep(for: Self.limit)
                return .problem("did not end within \(Self.limit.components.seconds) s")
            }
            let first = await group.next() ?? .problem("was not started")
            group.cancelAll()
            return first
        }
        switch answer {
        case .value(let value):
            known.withLock { $0[name] = value }
            return value
        case .problem(let problem):
            problems.withLock { $0[name] = "the command '\(words[0])' \(problem)" }
            return nil
        }
    }

    /// Returns why it gave no value when it was last asked for it, in one sentence; nil when it was not asked.
    func problem(_ name: String) -> String? { problems.withLock { $0[name] } }

    private enum Answer: Sendable {
        case value(String)
        case problem(String)
    }

    private func ask(_ name: String) async -> Answer {
        let program: Executable = words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0])
        do {
            let result = try await Subprocess.run(
                program, arguments: Arguments(Array(words.dropFirst()) + [name]), output: .string(limit: 64 << 10),
                error: .string(limit: 64 << 10))
            if result.terminationStatus.isSuccess { return .value(LineEnd.removed(from: result.standardOutput)) }
            let said = result.standardError.split(separator: "\n").last.map { ": \($0.prefix(200))" } ?? ""
            let status =
                switch result.terminationStatus {
                case .exited(let status): "ended with status \(status)"
                case .signaled(let signal): "was ended by signal \(signal)"
                }
            return .problem(status + said)
        } catch {
            return .problem("can't be started: \(error)")
        }
    }
}
