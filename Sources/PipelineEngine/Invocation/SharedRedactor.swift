import JSONPath
import PipelineCore
import Synchronization

/// The secrets of one job, shared by its executor and the calls of its stages: it only grows.
final class SharedRedactor: Sendable {
    private struct State {
        var redactor = Redactor()
        /// As bytes: texts that Swift takes for equal are written differently, and each is found as it is written.
        var values: Set<[UInt8]> = []
        var names: Set<String> = []
    }

    private let state = Mutex(State())

    /// Adds secrets; those that are known, and empty ones, change nothing.
    func add(_ secrets: some Sequence<(name: String, value: String)>) {
        state.withLock { state in
            let fresh = secrets.filter { !$0.value.isEmpty && state.values.insert(Array($0.value.utf8)).inserted }
            state.names.formUnion(fresh.map(\.name))
            state.redactor = state.redactor.adding(fresh)
        }
    }

    /// Adds what was made of secrets, where these are not found in it as they are.
    func add(_ value: JSON, madeOf names: some Sequence<String>) {
        guard let name = state.withLock({ state in names.first { state.names.contains($0) } }) else { return }
        add(value.longTexts.filter { redact($0) == $0 }.map { (name, $0) })
    }

    func redact(_ text: String) -> String { current.redact(text) }

    /// The redactor of what is known by now, as a value.
    var current: Redactor { state.withLock(\.redactor) }
}
