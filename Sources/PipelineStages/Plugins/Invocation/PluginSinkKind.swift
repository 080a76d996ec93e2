import JSONPath
import PipelineCore

/// Makes a kind of notification sink of what a program says of itself.
enum PluginSinkKind {
    static func make(
        _ program: PluginProgram, _ description: PluginDescription, settings: PluginSettings
    ) -> NotificationSinkKind {
        NotificationSinkKind(
            name: program.name, summary: description.summary ?? "The plugin \(program.name).",
            schema: JSON.schemaWithTemplates(description.schema.json)
        ) { place, findings in
            guard
                let configuration = PluginConfiguration(
                    place, of: program, schema: description.schema, roots: .service, findings: findings)
            else { return nil }
            return NotificationSinkTemplate(name: program.name) { scope throws(EvaluationFailure) in
                ProgramSink(program: program, configuration: try configuration.value(in: scope), settings: settings)
            }
        }
    }

    /// A sink whose program can't be used: an entry of it is a mistake that says why.
    static func broken(_ program: PluginProgram, _ fault: PluginFault) -> NotificationSinkKind {
        NotificationSinkKind(
            name: program.name, summary: "The plugin at \(program.path) can't be used.", schema: [:]
        ) { place, findings in
            program.report(fault, at: place, to: findings)
            return nil
        }
    }
}
