import ArgumentParser
import JSONPath
import PipelineJournal
import PipelineKit

/// `pipeline config`: where everything is, and which settings hold.
struct ConfigCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show where everything is and which settings hold.",
        discussion: """
            Flags win over PIPELINE_ variables, and these over the configuration file.

            Example: pipeline config
            Example: pipeline config --schema > config.schema.json
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Write JSON.")
    var json = false

    @Flag(help: "Print the JSON Schema of the configuration file.")
    var schema = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if schema {
            console.data(UserConfiguration.schema.prettyText())
            return .succeeded
        }
        let configuration = try UserConfiguration(
            environment: ProcessEnvironment.all, profile: common.profile)
        let settings = settings(workspace, configuration)
        if json {
            let values = settings.map { setting -> (String, JSON) in
                (setting.name, ["value": JSON(setting.value), "from": .string(setting.source)])
            }
            console.data(JSON.object(JSONObject(values)).prettyText())
            return .succeeded
        }
        let width = settings.map(\.name.count).max() ?? 0
        for setting in settings {
            let name = setting.name + String(repeating: " ", count: width - setting.name.count)
            console.data(SafeText.line("\(name)  \(setting.value ?? "-")  (\(setting.source))"))
        }
        return .succeeded
    }

    private struct Shown {
        let name: String
        let value: String?
        let source: String
    }

    private func settings(_ workspace: Workspace, _ configuration: UserConfiguration) -> [Shown] {
        let held = workspace.settings
        let command = configuration.secretsCommand
        return [
            Shown(
                name: "configuration", value: configuration.path,
                source: configuration.isThere ? "the file" : "there is no such file"),
            Shown(
                name: "profile", value: configuration.profile,
                source: common.profile != nil
                    ? "--profile" : configuration.profile == nil ? "default" : "PIPELINE_PROFILE"),
            Shown(
                name: "stateDir", value: held.stateFolder,
                source: source("PIPELINE_STATE_DIR", common.stateDir, "--state-dir", configuration)),
            Shown(
                name: "journal", value: held.journalPlace,
                source: source("PIPELINE_JOURNAL", nil, "", configuration)),
            Shown(
                name: "secretsFile", value: held.secretsFile,
                source: source("PIPELINE_SECRETS_FILE", common.secretsFile, "--secrets-file", configuration)),
            Shown(
                name: "secrets", value: command.isEmpty ? nil : command.joined(separator: " "),
                source: command.isEmpty ? "default" : "configuration file"),
            Shown(
                name: "callbackURL", value: held.callbackURL,
                source: source("PIPELINE_CALLBACK_URL", nil, "", configuration)),
            Shown(
                name: "plugins", value: held.pluginFolders.paths.joined(separator: ":"),
                source: source("PIPELINE_PLUGINS", common.plugins, "--plugins", configuration)),
        ]
    }

    private func source(
        _ variable: String, _ given: String?, _ flag: String, _ configuration: UserConfiguration
    ) -> String {
        if given != nil { return flag }
        if ProcessEnvironment.all[variable]?.isEmpty == false { return variable }
        return configuration.variables[variable] == nil ? "default" : "configuration file"
    }
}
