import JSONPath
import PipelineCore
import PipelineHTTP

/// Makes a kind of decorator of what a program says of itself.
enum PluginDecoratorKind {
    static func make(
        _ program: PluginProgram, _ description: PluginDescription, settings: PluginSettings
    ) -> DecoratorKind {
        DecoratorKind(
            name: program.name, summary: description.summary ?? "The plugin \(program.name).",
            schema: JSON.schemaWithTemplates(description.schema.json)
        ) { place, roots, findings in
            guard
                let configuration = PluginConfiguration(
                    place, of: program, schema: description.schema, roots: roots, findings: findings)
            else { return nil }
            return DecoratorTemplate(isCredential: configuration.isSecret) { context throws(EvaluationFailure) in
                ProgramDecorator(
                    program: program, configuration: try configuration.value(in: context.scope),
                    isSecret: configuration.isSecret, wantsDigest: description.wantsDigest, settings: settings)
            }
        }
    }

    /// A decorator whose program can't be used: an entry of it is a mistake that says why.
    static func broken(_ program: PluginProgram, _ fault: PluginFault) -> DecoratorKind {
        DecoratorKind(
            name: program.name, summary: "The plugin at \(program.path) can't be used.", schema: [:]
        ) { place, _, findings in
            program.report(fault, at: place, to: findings)
            return nil
        }
    }
}
