package import HTTPTypes
package import JSONPath
package import PipelineCore
package import PipelineHTTP

/// The sinks of the format, over a network and the programs of the machine.
package struct StandardSinks: NotificationSinks {
    /// Makes the decorators of a webhook's `with`, which stands in the document, for a request of the method.
    package typealias Decorate =
        @Sendable ([DecoratorDefinition], Scope, SourceText, HTTPRequest.Method) async throws(NotificationFailure) ->
        [any RequestDecorator]

    private let network: Network
    private let decorate: Decorate
    private let environment: [String: String]
    private let showLine: @Sendable (String) -> Bool
    private let clock: any WallClock

    /// - Parameters:
    ///   - environment: what programs are started with, but for secrets.
    ///   - showLine: shows a line on this process's own terminal; false when it has none.
    package init(
        network: Network, environment: [String: String], clock: any WallClock,
        showLine: @escaping @Sendable (String) -> Bool = { _ in false },
        decorate: @escaping Decorate = { _, _, _, _ in [] }
    ) {
        self.network = network
        self.environment = ExecutableLookup.withoutSecrets(environment)
        self.clock = clock
        self.showLine = showLine
        self.decorate = decorate
    }

    package func sink(
        of entry: NotifyDefinition, in scope: Scope, source: SourceText
    ) async throws(NotificationFailure) -> any NotificationSink {
        switch entry.sink {
        case .desktop: return DesktopSink(environment: environment)
        case .terminal: return TerminalSink(showLine: showLine)
        case .webhook(let definition): return try await webhook(definition, scope, source)
        case .ntfy(let definition):
            return try Self.evaluated { () throws(EvaluationFailure) in try ntfy(definition, scope) }
        case .command(let words):
            return try Self.evaluated { () throws(EvaluationFailure) in
                var texts: [String] = []
                for word in words { texts.append(try word.evaluateText(in: scope)) }
                return CommandSink(words: texts, folder: scope.baseFolder, environment: environment)
            }
        case .email(let definition):
            return try Self.evaluated { () throws(EvaluationFailure) in try mail(definition, scope) }
        case .other(let template):
            return try Self.evaluated { () throws(EvaluationFailure) in try template.resolve(scope) }
        }
    }

    private func webhook(
        _ definition: WebhookDefinition, _ scope: Scope, _ source: SourceText
    ) async throws(NotificationFailure) -> any NotificationSink {
        var sink = try Self.evaluated { () throws(EvaluationFailure) in
            try WebhookSink(definition, in: scope, network: network, clock: clock)
        }
        sink.decorators = try await decorate(definition.decorators, scope, source, sink.method)
        return sink
    }

    private func ntfy(_ definition: NtfyDefinition, _ scope: Scope) throws(EvaluationFailure) -> NtfySink {
        NtfySink(
            network: network, url: try definition.url?.evaluateText(in: scope) ?? "https://ntfy.sh",
            topic: try definition.topic.evaluateText(in: scope), priority: try definition.priority?.value(in: scope))
    }

    private func mail(_ definition: EmailDefinition, _ scope: Scope) throws(EvaluationFailure) -> EmailSink {
        var recipients: [String] = []
        for recipient in definition.recipients { recipients.append(try recipient.evaluateText(in: scope)) }
        return EmailSink(
            server: try definition.server.evaluateText(in: scope),
            sender: try definition.sender.evaluateText(in: scope), recipients: recipients, clock: clock)
    }

    /// A value that is missing may be there later; one that is wrong stays wrong.
    private static func evaluated<Value>(
        _ work: () throws(EvaluationFailure) -> Value
    ) throws(NotificationFailure) -> Value {
        do throws(EvaluationFailure) {
            return try work()
        } catch {
            var isWrong = false
            if case .wrong = error { isWrong = true }
            throw NotificationFailure(error.message, hint: error.hint, isRetryable: !isWrong)
        }
    }
}
