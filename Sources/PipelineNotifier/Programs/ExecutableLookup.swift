import CLibrary

/// The part of our environment that a program gets which a sink starts, and the lookup of such programs.
enum ExecutableLookup {
    /// All but the secrets, of documents and of this process, and what the system gave this process alone: a program that
    /// shows something needs to find the desktop.
    static func withoutSecrets(_ environment: [String: String]) -> [String: String] {
        let own = ["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]
        return environment.filter { !isSecret($0.key) && !own.contains($0.key) }
    }

    /// True for a variable that may hold a secret: of a document, of the journal's database, or of the collector of traces.
    private static func isSecret(_ name: String) -> Bool {
        ["PIPELINE_SECRET_", "PIPELINE_JOURNAL"].contains { name.hasPrefix($0) } || name == "PGPASSWORD"
            || name.hasPrefix("OTEL_EXPORTER_OTLP_") && name.hasSuffix("HEADERS")
    }

    /// The first of the programs that the PATH has, with its absolute path.
    static func first(of names: [String], in environment: [String: String]) -> (name: String, path: String)? {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        for name in names {
            for folder in folders where access("\(folder)/\(name)", X_OK) == 0 { return (name, "\(folder)/\(name)") }
        }
        return nil
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
