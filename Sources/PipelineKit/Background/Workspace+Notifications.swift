import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineNotifier
import PipelineStages

extension Workspace {
    /// The sinks of notifications, over the workspace's network.
    func sinks(showLine: @escaping @Sendable (String) -> Bool) -> StandardSinks {
        StandardSinks(
            network: extensions.network, environment: settings.environment, clock: SystemClock(), showLine: showLine,
            decorate: { [self] definitions, scope, source, method async throws(NotificationFailure) in
                try await decorators(definitions, scope, source, method)
            })
    }

    private func decorators(
        _ definitions: [DecoratorDefinition], _ scope: Scope, _ source: SourceText, _ method: HTTPRequest.Method
    ) async throws(NotificationFailure) -> [any RequestDecorator] {
        guard !definitions.isEmpty else { return [] }
        let catalogue = extensions.decorators(with: await plugins.plugins(namedIn: source))
        let findings = DiagnosticCollector(source: source)
        var decorators: [any RequestDecorator] = []
        for definition in definitions {
            guard let template = catalogue.read(definition, roots: .service, findings: findings) else {
                throw NotificationFailure(
                    "the webhook's decorator '\(definition.name)' can't be used",
                    hint: "'pipeline validate' says what is wrong with it", isRetryable: false)
            }
            do throws(EvaluationFailure) {
                let made = try template.resolve(DecorationScope(scope: scope, method: method))
                if let made { decorators.append(made) }
            } catch {
                throw NotificationFailure(error.message, hint: error.hint, isRetryable: true)
            }
        }
        return decorators
    }
}
