import ArgumentParser

/// Arguments that the parser refused, told as every other error is: what is wrong, and where it is described.
struct UsageReport {
    let lines: [String]

    /// Nil for what is no mistake: `--help`, `--version`.
    init?(_ error: any Error) {
        guard RootCommand.exitCode(for: error) == .validationFailure else { return nil }
        let message = RootCommand.message(for: error)
        var lines = message.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        if lines.isEmpty { return nil }
        var title = lines.removeFirst()
        if title.hasSuffix(".") { title.removeLast() }
        // The parser names the command in its usage: "See 'pipeline run --help' for more information."
        let named = RootCommand.fullMessage(for: error).split(separator: "'").first { $0.hasSuffix(" --help") }
        let help = named.map(String.init) ?? "pipeline --help"
        self.lines =
            ["error: " + title.prefix(1).lowercased() + title.dropFirst()] + lines
            + ["  hint: '\(help)' shows what it takes"]
    }
}
