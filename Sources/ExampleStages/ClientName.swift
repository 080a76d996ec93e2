import PipelineKit

/// A decorator: says in a header which program sends. In a document: `{ "clientName": "${{ job.id }}" }`.
enum ClientName {
    static let kind = DecoratorKind(
        name: "clientName", summary: "Says which program sends.", schema: FieldType<Template>.template().schema
    ) { place, roots, findings in
        FieldType<Template>.template(roots).read(place, findings).map { name in
            DecoratorTemplate { scope throws(EvaluationFailure) in
                Headers([("X-Client", try name.evaluateText(in: scope.scope))])
            }
        }
    }
}
