package import PipelineCore
import PipelineJournal
package import PipelineStages

/// The places where a program keeps its state and finds its secrets: flags first, then `PIPELINE_…` variables, then
/// defaults.
package struct Settings: Sendable {
    /// The folder of the journal; absolute.
    package let stateFolder: String
    /// The address of a journal in a database (`PIPELINE_JOURNAL`); nil for that of the state folder. It may hold a password,
    /// and is shown nowhere.
    package let journalAddress: String?
    /// The place of that journal, without what may be secret; nil for that of the state folder.
    package var journalPlace: String? { journalAddress.map { PostgresJournal.place(of: $0) } }
    /// The file of secrets, when one was named; absolute.
    package let secretsFile: String?
    /// The folders in which plugins are looked for.
    package let pluginFolders: PluginFolders
    /// The public address of the background owner's receiver of pushes, without a slash at the end; nil when none is
    /// set.
    package let callbackURL: String?
    /// The user's command for secrets; empty for none.
    package let secretsCommand: [String]
    /// The environment, as it was when the program began.
    package let environment: [String: String]

    package init(
        stateFolder: String?, secretsFile: String?, plugins: String? = nil, environment: [String: String],
        secretsCommand: [String] = []
    ) {
        let working = AbsolutePath.workingDirectory
        let named = stateFolder ?? environment["PIPELINE_STATE_DIR"].flatMap { $0.isEmpty ? nil : $0 }
        self.stateFolder = AbsolutePath.of(named ?? Self.defaultStateFolder(environment), in: working)
        journalAddress = environment["PIPELINE_JOURNAL"].flatMap { $0.isEmpty ? nil : $0 }
        self.secretsFile = secretsFile.map { AbsolutePath.of($0, in: working) }
        pluginFolders = PluginFolders(
            named: plugins.map { AbsolutePath.of($0, in: working) }, environment: environment,
            installed: ProcessEnvironment.installedPlugins)
        var address = environment["PIPELINE_CALLBACK_URL"].flatMap { $0.isEmpty ? nil : $0 }
        while address?.hasSuffix("/") == true { address?.removeLast() }
        callbackURL = address
        self.environment = environment
        self.secretsCommand = secretsCommand
    }

    /// Makes settings of what flags say, completed by the environment of the process, and this by the user's
    /// configuration file.
    package init(
        stateFolder: String?, secretsFile: String?, plugins: String?, profile: String? = nil,
        completing variables: [String: String]
    ) throws(DefinitionError) {
        let configuration = try UserConfiguration(environment: variables, profile: profile)
        let environment = configuration.completing(variables)
        self.init(
            stateFolder: stateFolder,
            secretsFile: secretsFile ?? environment["PIPELINE_SECRETS_FILE"].flatMap { $0.isEmpty ? nil : $0 },
            plugins: plugins, environment: environment, secretsCommand: configuration.secretsCommand)
    }

    /// `$XDG_STATE_HOME/pipeline` (XDG Base Directory Specification 0.8), `~/.local/state/pipeline` without it.
    private static func defaultStateFolder(_ environment: [String: String]) -> String {
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return "\(folder)/pipeline" }
        return "\(environment["HOME"] ?? "/var/lib")/.local/state/pipeline"
    }
}
