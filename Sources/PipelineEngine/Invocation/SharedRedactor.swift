import JSONPath
import PipelineCore
import Synchronization

/// The secrets of one job, shared by its executor and the calls of its stages: it only grows.
final class SharedRedactor: Sendable {
    private struct State {
        var redactor = Redactor()
        /// As bytes: texts that Swift takes for equal are written differently, and each is found as it is written.
        var values: Set<[UInt8]> = []
    }

    private let state = Mutex(State())

    /// Adds secrets; those that are known, and empty ones, change nothing.
    func add(_ secrets: some Sequence<(name: String, value: String)>) {
        state.withLock { state in
            let fresh = secrets.filter { !$0.value.isEmpty && state.values.insert(Array($0.value.utf8)).inserted }
            state.redactor = state.redactor.adding(fresh)
        }
    }

    func redact(_ text: String) -> String { current.redact(text) }

    func redact(_ value: JSON) -> JSON { current.redact(value) }

    /// The redactor of what is known by now, as a value.
    var current: Redactor { state.withLock(\.redactor) }
}
