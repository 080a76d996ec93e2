import JSONPath
import PipelineCore
import Synchronization

/// The secrets of one job, shared by its executor and the calls of its stages: it only grows, but for what expressions make
/// of them.
final class SharedRedactor: Sendable {
    private struct State {
        var redactor = Redactor()
        /// As bytes: texts that Swift takes for equal are written differently, and each is found as it is written.
        var values: Set<[UInt8]> = []
        var secrets: [(name: String, value: String)] = []
        /// What was made of secrets, value by value, the latest last.
        var made: [[(name: String, value: String)]] = []
    }

    /// The number of values made of secrets that are looked for at least, the latest: an expression may make another one for
    /// each of many items.
    static let mostMade = 64

    private let state = Mutex(State())

    /// Adds secrets; those that are known, and empty ones, change nothing.
    func add(_ secrets: some Sequence<(name: String, value: String)>) {
        state.withLock { state in
            let fresh = secrets.filter { !$0.value.isEmpty && state.values.insert(Array($0.value.utf8)).inserted }
            state.secrets += fresh
            state.redactor.add(fresh)
        }
    }

    /// Adds what was made of secrets, where these are not found in it as they are.
    func add(_ value: JSON, madeOf names: some Sequence<String>) {
        state.withLock { state in
            guard let name = names.first(where: { name in state.secrets.contains { $0.name == name } }) else { return }
            let fresh = value.leafTexts.filter { !$0.isEmpty && state.redactor.redact($0) == $0 }
                .map { (name: name, value: $0) }
            if fresh.isEmpty { return }
            state.made.append(fresh)
            guard state.made.count > 2 * Self.mostMade else {
                state.redactor.add(fresh)
                return
            }
            state.made.removeFirst(state.made.count - Self.mostMade)
            state.redactor = Redactor(state.secrets + state.made.joined())
        }
    }

    func redact(_ text: String) -> String { current.redact(text) }

    /// The redactor of what is known by now, as a value.
    var current: Redactor { state.withLock(\.redactor) }
}
