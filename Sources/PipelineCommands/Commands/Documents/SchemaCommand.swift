import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline schema`: the JSON Schema of pipeline files, for editors.
struct SchemaCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of pipeline files.",
        discussion: "Example: pipeline schema > pipeline.schema.json")

    @OptionGroup var common: CommonOptions

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        console.data(PipelineSchema(catalogue: await workspace.wholeCatalogue()).json.prettyText())
        return .succeeded
    }
}
