import Glibc
public import JSONPath
public import PipelineCore

/// The user's configuration file, `$XDG_CONFIG_HOME/pipeline/config.json`: what holds where neither a flag nor a
/// `PIPELINE_…` variable says otherwise.
public struct UserConfiguration: Sendable {
    /// Where it is, or would be.
    public let path: String
    public let isThere: Bool
    /// The variables that its settings stand for.
    public let variables: [String: String]
    /// The command that gives a secret, without the secret's name, which comes last.
    public let secretsCommand: [String]

    private static let state = Field(
        "stateDir", FieldType<String>.string, examples: ["/var/lib/pipeline"],
        "Where jobs are kept (PIPELINE_STATE_DIR); absolute.")
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

    static let fields: [any AnyField] = [state, callback, secretsFile, plugins, secrets]

    /// The JSON Schema (2020-12) of the file.
    public static var schema: JSON {
        var schema: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:pipeline:config:1",
            "title": "Configuration of pipeline",
        ]
        for (name, value) in fields.objectSchema.object ?? [:] { schema[name] = value }
        return .object(schema)
    }

    /// Reads the file; without one everything has its default. All its mistakes are thrown at once.
    public init(environment: [String: String]) throws(DefinitionError) {
        let home = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        path = "\(home ?? "\(environment["HOME"] ?? "/etc")/.config")/pipeline/config.json"
        guard let bytes = FileContent.bytes(path, limit: 1 << 20) else {
            (isThere, variables, secretsCommand) = (false, [:], [])
            return
        }
        let source = SourceText(name: path, bytes: bytes)
        let findings = DiagnosticCollector(source: source)
        let reading = JSONNode.read(source)
        for error in reading.errors {
            findings.report(range: error.range, pointer: "", error.message, hint: error.hint)
        }
        let reader = reading.node.flatMap { ObjectReader(SourceLocation($0), fields: Self.fields, findings: findings) }
        var found: [String: String] = [:]
        found["PIPELINE_STATE_DIR"] = reader?.optional(Self.state)
        found["PIPELINE_CALLBACK_URL"] = reader?.optional(Self.callback)
        found["PIPELINE_SECRETS_FILE"] = reader?.optional(Self.secretsFile)
        found["PIPELINE_PLUGINS"] = reader?.optional(Self.plugins)?.joined(separator: ":")
        let command = reader?.optional(Self.secrets) ?? []
        reader?.finish()
        guard findings.diagnostics.isEmpty else {
            throw DefinitionError(source: source, diagnostics: findings.diagnostics)
        }
        (isThere, variables, secretsCommand) = (true, found, command)
    }

    /// The environment with what the file says where the environment says nothing.
    public func completing(_ environment: [String: String]) -> [String: String] {
        environment.merging(variables) { own, ours in own.isEmpty ? ours : own }
    }
}
