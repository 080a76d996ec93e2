import CLibrary
package import PipelineCore

/// The places where secrets are looked for, the first that has one wins: a file, the service manager's credentials
/// folder (systemd.exec(5), `LoadCredential=`), the environment, the user's command.
package struct SecretSources: SecretSource {
    private let file: [String: String]
    /// Read again each time, so that a value that was renewed is found; what it said first stays good without it.
    private let path: String?
    private let credentialsFolder: String?
    private let environment: [String: String]
    private let command: SecretCommand?
    package var holder: String?

    /// - Parameters:
    ///   - file: what ``read(_:)`` gave, or nothing.
    ///   - path: the file that it was read from.
    ///   - environment: where `CREDENTIALS_DIRECTORY` and `PIPELINE_SECRET_NAME` are looked up.
    ///   - command: prints a secret whose name it gets as its last argument; empty for none.
    package init(
        file: [String: String], path: String? = nil, environment: [String: String], command: [String] = []
    ) {
        self.command = SecretCommand(command)
        self.file = file
        self.path = path
        self.environment = environment
        credentialsFolder = environment["CREDENTIALS_DIRECTORY"]
    }

    package func secret(_ name: String) async -> String? { await secret(name, isRefused: false) }

    package func renewed(_ name: String) async -> String? { await secret(name, isRefused: true) }

    private func secret(_ name: String, isRefused: Bool) async -> String? {
        let current = path.flatMap { path in try? Self.read(path) }
        // A CI system gives an empty variable for a secret that it does not have; and a value that was put there from a
        // file often has the file's line break at its end.
        let variable = environment["PIPELINE_SECRET_\(name)"].map { LineEnd.removed(from: $0) }
            .flatMap { $0.isEmpty ? nil : $0 }
        let known = current?[name] ?? file[name] ?? credential(name) ?? variable
        if let known { return known }
        return await command?.secret(name, isRefused: isRefused)
    }

    /// Returns why the user's command gave no value of a secret that was asked for; nil where it was not to blame.
    package func problem(of name: String) -> String? { command?.problem(name) }

    /// Returns where the secrets file gives a secret that was asked for in another form than its own; nil where it does not.
    package func slip(of name: String) -> String? {
        guard let path, let text = FileContent.text(path) else { return nil }
        return SecretLines(path: path, text: text).slip(of: name)
    }

    private func credential(_ name: String) -> String? {
        guard let credentialsFolder, !name.contains("/"), let text = FileContent.text("\(credentialsFolder)/\(name)")
        else { return nil }
        return LineEnd.removed(from: text)
    }

    /// Reads a secrets file: `NAME=value` lines, blank lines and lines that start with `#` are passed over. A value is
    /// taken as it stands after the first `=`; one in double quotes may go over several lines, and in it `\\n`, `\\"` and
    /// `\\\\` stand for a line break, a quote and a backslash.
    package static func read(_ path: String) throws(StepFailure) -> [String: String] {
        guard let text = FileContent.text(path) else {
            throw StepFailure(
                "cannot read the secrets file \(path): \(FileContent.reason)",
                hint: "it has lines such as API_TOKEN=value")
        }
        var reader = SecretLines(path: path, text: text)
        return try reader.secrets()
    }
}
