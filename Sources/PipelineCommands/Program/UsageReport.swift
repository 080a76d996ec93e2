import ArgumentParser
import PipelineCore

/// Arguments that the parser refused, told as every other error is: what is wrong, and where it is described.
struct UsageReport {
    let lines: [String]

    /// Nil for what is no mistake: `--help`, `--version`.
    /// - Parameter arguments: what was typed after the program's name.
    init?(_ error: any Error, arguments: [String]) {
        guard RootCommand.exitCode(for: error) == .validationFailure else { return nil }
        let error = Self.unknownOption(in: arguments) ?? error
        let message = RootCommand.message(for: error)
        var lines = message.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        if lines.isEmpty { return nil }
        var title = lines.removeFirst()
        if title.hasSuffix(".") { title.removeLast() }
        let hint = Self.misplaced(arguments) ?? Self.expanded(arguments, title)
        if title.count > Self.longest { title = title.prefix(Self.longest) + "…" }
        self.lines =
            ["error: " + title.prefix(1).lowercased() + title.dropFirst()] + lines
            + ["  hint: " + (hint ?? "'\(Self.help(for: error))' shows what it takes")]
    }

    /// The parser names an argument that is missing before an option that it does not know, though a mistyped option
    /// is the likelier cause: with words in the place of those missing it tells of the option.
    private static func unknownOption(in arguments: [String]) -> (any Error)? {
        for count in 1...2 {
            do {
                _ = try RootCommand.parseAsRoot(arguments + Array(repeating: "last", count: count))
            } catch {
                if RootCommand.message(for: error).hasPrefix("Unknown option") { return error }
            }
        }
        return nil
    }

    /// The parser names the command in its usage: "See 'pipeline run --help' for more information."
    private static func help(for error: any Error) -> String {
        let named = RootCommand.fullMessage(for: error).split(separator: "'").first { $0.hasSuffix(" --help") }
        return named.map(String.init) ?? "pipeline --help"
    }

    /// The number of characters of a title that are shown: arguments may be thousands.
    private static let longest = 200

    /// The names of files that a shell has put in the place of a pattern.
    private static func expanded(_ arguments: [String], _ title: String) -> String? {
        guard arguments.contains("--each"), title.lowercased().contains("unexpected argument") else { return nil }
        return "a shell puts names of files in the place of a pattern: quote it, as in --each video='movies/*.mov'"
    }

    /// Options of all commands that stand before the command, where other programs have theirs.
    private static func misplaced(_ arguments: [String]) -> String? {
        guard let first = arguments.first, first.hasPrefix("--") else { return nil }
        let option = String(first.prefix { $0 != "=" })
        guard
            ["--state-dir", "--secrets-file", "--plugins", "--profile", "--color", "--plain", "--json"].contains(option)
        else {
            return nil
        }
        let value = ["--plain", "--json"].contains(first) || first.contains("=") ? "" : " …"
        return "options stand after the command, as in 'pipeline list \(first)\(value)'"
    }
}
