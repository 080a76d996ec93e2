package import JSONPath

/// Makes sinks of what documents say: real ones in programs, scripted ones in tests.
package protocol NotificationSinks: Sendable {
    /// The sink of an entry, its values put in; `source` is the document that it stands in. Called just before each
    /// sending, never on the engine.
    func sink(
        of entry: NotifyDefinition, in scope: Scope, source: SourceText
    ) async throws(NotificationFailure) -> any NotificationSink
}

extension NotificationSinkDefinition {
    /// The key by which an entry names its sink, as events show it.
    package var name: String {
        switch self {
        case .desktop: "desktop"
        case .terminal: "terminal"
        case .webhook: "webhook"
        case .ntfy: "ntfy"
        case .command: "command"
        case .email: "email"
        case .other(let template): template.name
        }
    }
}
