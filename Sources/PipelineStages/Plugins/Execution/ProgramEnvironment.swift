/// The environment that a plugin's program gets: what it needs to run, and nothing that could be a secret.
enum ProgramEnvironment {
    static let names = ["PATH", "HOME", "LANG", "TMPDIR"]

    /// Those variables of an environment; PATH has a value in any case.
    static func minimal(of environment: [String: String]) -> [String: String] {
        var minimal = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        for name in names { if let value = environment[name] { minimal[name] = value } }
        return minimal
    }
}
