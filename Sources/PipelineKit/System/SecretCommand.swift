import Subprocess
import Synchronization
import SystemPackage

/// The user's command for secrets: started with a secret's name, it prints the value. Each is asked for once, and again
/// when a service refused the value.
final class SecretCommand: Sendable {
    /// What is known of one secret.
    private struct Entry {
        var value: String?
        var problem: String?
        /// When it was last asked for because the value was refused; nil before.
        var renewed: ContinuousClock.Instant?
        var isAsked = false
        /// Those that wait for the answer to a question that is under way.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum Claim {
        case known(String)
        /// Another caller asks at this moment.
        case busy
        case asking
    }

    private let words: [String]
    /// The time within which one new value is the newest: who has to unlock what is asked does it once for many refusals.
    private let pause: Duration
    private let entries = Mutex<[String: Entry]>([:])

    /// The longest time that it may take: a person may have to unlock what it asks.
    private static let limit = Duration.seconds(60)

    /// Nil when there is no command.
    init?(_ words: [String], pause: Duration = .seconds(5)) {
        guard !words.isEmpty else { return nil }
        self.words = words
        self.pause = pause
    }

    /// Returns what it printed, without the last line's end; nil when it failed or knows of none.
    /// - Parameter isRefused: true when a service refused the value that is known: it is asked again.
    func secret(_ name: String, isRefused: Bool = false) async -> String? {
        while true {
            switch claim(name, isRefused: isRefused) {
            case .known(let value): return value
            case .busy: await wait(for: name)
            case .asking: return finish(name, with: await answer(for: name), isRefused: isRefused)
            }
        }
    }

    private func claim(_ name: String, isRefused: Bool) -> Claim {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            let isNew = entry.renewed.map { ContinuousClock.now - $0 < pause } ?? false
            if let value = entry.value, !isRefused || isNew { return .known(value) }
            guard !entry.isAsked else { return .busy }
            entry.isAsked = true
            entries[name] = entry
            return .asking
        }
    }

    private func wait(for name: String) async {
        await withCheckedContinuation { continuation in
            let isAsked = entries.withLock { entries in
                guard entries[name]?.isAsked == true else { return false }
                entries[name]?.waiters.append(continuation)
                return true
            }
            if !isAsked { continuation.resume() }
        }
    }

    private func finish(_ name: String, with answer: Answer, isRefused: Bool) -> String? {
        let waiters = entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            switch answer {
            case .value(let value): entry.value = value
            case .problem(let problem): entry.problem = "the command '\(words[0])' \(problem)"
            }
            if isRefused { entry.renewed = .now }
            entry.isAsked = false
            let waiters = entry.waiters
            entry.waiters = []
            entries[name] = entry
            return waiters
        }
        for waiter in waiters { waiter.resume() }
        guard case .value(let value) = answer else { return nil }
        return value
    }

    /// Returns why it gave no value when it was last asked for it, in one sentence; nil when it was not asked.
    func problem(_ name: String) -> String? { entries.withLock { $0[name]?.problem } }

    private enum Answer: Sendable {
        case value(String)
        case problem(String)
    }

    private func answer(for name: String) async -> Answer {
        await withTaskGroup(of: Answer.self) { group in
            group.addTask { await self.ask(name) }
            group.addTask {
                try? await Task.sleep(for: Self.limit)
                return .problem("did not end within \(Self.limit.components.seconds) s")
            }
            let first = await group.next() ?? .problem("was not started")
            group.cancelAll()
            return first
        }
    }

    private func ask(_ name: String) async -> Answer {
        let program: Executable = words[0].contains("/") ? .path(FilePath(words[0])) : .name(words[0])
        do {
            let result = try await Subprocess.run(
                program, arguments: Arguments(Array(words.dropFirst()) + [name]), output: .string(limit: 64 << 10),
                error: .string(limit: 64 << 10))
            if result.terminationStatus.isSuccess {
                let value = LineEnd.removed(from: result.standardOutput)
                return value.isEmpty ? .problem("printed nothing") : .value(value)
            }
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
