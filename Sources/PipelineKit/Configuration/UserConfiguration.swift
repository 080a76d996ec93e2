import CLibrary
package import JSONPath
package import PipelineCore

/// The user's configuration file, `$XDG_CONFIG_HOME/pipeline/config.json`: what holds where neither a flag nor a
/// `PIPELINE_…` variable says otherwise.
package struct UserConfiguration: Sendable {
    /// The place where it is, or would be.
    package let path: String
    package let isThere: Bool
    /// The section that was asked for; nil when none was.
    package let profile: String?
    /// The variables that its settings stand for.
    package let variables: [String: String]
    /// The command that gives a secret, without the secret's name, which comes last.
    package let secretsCommand: [String]

    private static let state = Field(
        "stateDir", FieldType<String>.string, examples: ["/var/lib/pipeline"],
        "Where jobs are kept (PIPELINE_STATE_DIR); absolute.")
    private static let journal = Field(
        "journal", FieldType<String>.string, examples: ["postgres://pipeline@db.example/pipeline"],
        "The address of a PostgreSQL database that many machines share (PIPELINE_JOURNAL); without it jobs are kept in the "
            + "state folder.")
    private static let callback = Field(
        "callbackURL", FieldType<String>.string, examples: ["https://jobs.example.com"],
        "The public address of the background owner's receiver of pushes (PIPELINE_CALLBACK_URL).")
    private static let secretsFile = Field(
        "secretsFile", FieldType<String>.string, examples: ["/home/me/.config/pipeline/secrets"],
        "A file of NAME=value lines (PIPELINE_SECRETS_FILE); absolute.")
    private static let plugins = Field(
        "plugins", FieldType<[String]>.array(of: .string), examples: [["/opt/pipeline/plugins"]],
        "Folders of plugins (PIPELINE_PLUGINS); absolute.")
    private static let secrets = Field(
        "secrets", FieldType<[String]>.array(of: .string, atLeast: 1), examples: [["pass", "show"]],
        "A command that prints a secret; its name comes as the last argument. Asked last of all sources.")

    private static let environment = Field(
        "environment", FieldType<[Named<String>]>.map(of: .string), examples: [["API_URL": "https://api.example.com"]],
        "Variables for documents that read them as env.NAME, by name.")
    private static let profiles = Field(
        "profiles", FieldType<[Named<Section>]>.map(of: FieldType<Section>.object(section) { Section($0) }),
        examples: [["staging": ["stateDir": "/var/lib/pipeline-staging"]]],
        "Sections by name; the one that --profile (PIPELINE_PROFILE) names wins over what stands outside of it.")

    private static let section: [any AnyField] = [state, journal, callback, secretsFile, plugins, secrets, environment]
    static let fields: [any AnyField] = section + [profiles]

    /// The JSON Schema (2020-12) of the file.
    package static var schema: JSON {
        var schema: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:pipeline:config:1",
            "title": "Configuration of pipeline",
        ]
        for (name, value) in fields.objectSchema.object ?? [:] { schema[name] = value }
        return .object(schema)
    }

    /// The settings of one section, or of the file outside of its sections.
    private struct Section: Sendable {
        /// The variables that its settings stand for.
        var variables: [String: String] = [:]
        var secretsCommand: [String] = []

        init() {}

        init(_ reader: ObjectReader) {
            for entry in reader.optional(UserConfiguration.environment) ?? [] { variables[entry.name] = entry.value }
            variables["PIPELINE_STATE_DIR"] = reader.optional(UserConfiguration.state)
            variables["PIPELINE_JOURNAL"] = reader.optional(UserConfiguration.journal)
            variables["PIPELINE_CALLBACK_URL"] = reader.optional(UserConfiguration.callback)
            variables["PIPELINE_SECRETS_FILE"] = reader.optional(UserConfiguration.secretsFile)
            variables["PIPELINE_PLUGINS"] = reader.optional(UserConfiguration.plugins)?.joined(separator: ":")
            secretsCommand = reader.optional(UserConfiguration.secrets) ?? []
        }

        /// The settings of this section where the other says nothing.
        func over(_ other: Section) -> Section {
            var all = self
            all.variables.merge(other.variables) { own, _ in own }
            if all.secretsCommand.isEmpty { all.secretsCommand = other.secretsCommand }
            return all
        }
    }

    /// Reads the file; without one everything has its default. All its mistakes are thrown at once.
    ///
    /// - Parameter profile: the section that holds; without it that of `PIPELINE_PROFILE`.
    package init(environment: [String: String], profile: String? = nil) throws(DefinitionError) {
        let home = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let base = home ?? environment["HOME"] ?? "/etc"
        path = "\(base)\(home == nil ? "/.config" : "")/pipeline/config.json"
        let wanted = profile ?? environment["PIPELINE_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        self.profile = wanted
        let bytes = FileContent.bytes(path, limit: 1 << 20)
        let reason = FileContent.reason
        // A home that one may not enter is somebody else's, left over in the environment by sudo or su.
        let isMissing = bytes == nil && (FileContent.isMissing || FileContent.isForbidden && access(base, X_OK) != 0)
        isThere = !isMissing
        guard !isMissing || wanted != nil else {
            (variables, secretsCommand) = ([:], [])
            return
        }
        let source = SourceText(name: path, bytes: bytes ?? Array("{}".utf8))
        let findings = DiagnosticCollector(source: source)
        if bytes == nil, !isMissing {
            // Without it another journal may hold, and a job in the other one would be begun a second time.
            findings.report(
                range: SourceRange(start: 0, end: 1), pointer: "", "the configuration can't be read: \(reason)",
                hint: "mend the rights of the file and of its folders, or remove it")
        }
        let reading = JSONNode.read(source)
        for error in reading.errors {
            findings.report(range: error.range, pointer: "", error.message, hint: error.hint)
        }
        let table = FieldTable(Self.fields)
        let reader = reading.node.flatMap { ObjectReader(SourceLocation($0), table: table, findings: findings) }
        var section = reader.map { Section($0) } ?? Section()
        let profiles = reader?.optional(Self.profiles) ?? []
        reader?.finish()
        if let wanted {
            if let found = profiles.first(where: { $0.name == wanted }) {
                section = found.value.over(section)
            } else if findings.diagnostics.isEmpty {
                let names = profiles.map(\.name).joined(separator: ", ")
                findings.report(
                    range: SourceRange(start: 0, end: 1), pointer: "/profiles",
                    "there is no profile called '\(wanted)'",
                    hint: names.isEmpty ? "add it: \"profiles\": { \"\(wanted)\": { … } }" : "there are: \(names)")
            }
        }
        guard findings.diagnostics.isEmpty else {
            throw DefinitionError(source: source, diagnostics: findings.diagnostics)
        }
        (variables, secretsCommand) = (section.variables, section.secretsCommand)
    }

    /// The environment with what the file says where the environment says nothing.
    package func completing(_ environment: [String: String]) -> [String: String] {
        environment.merging(variables) { own, ours in own.isEmpty ? ours : own }
    }
}
