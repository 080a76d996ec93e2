import CLibrary

/// The part of our environment that a program gets which a sink starts, and the lookup of such programs.
enum ExecutableLookup {
    /// All but the secrets: a program that shows something needs to find the desktop.
    static func withoutSecrets(_ environment: [String: String]) -> [String: String] {
        let own = ["CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"]
        return environment.filter { !$0.key.hasPrefix("PIPELINE_SECRET_") && !own.contains($0.key) }
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
