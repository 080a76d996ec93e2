import JSONPath

/// The reference of the commands, made from the table that also parses their arguments.
struct CommandReference {
    /// The whole page.
    ///
    /// - Parameter help: what `pipeline --experimental-dump-help` prints.
    static func page(of help: JSON) -> String {
        let commands = visible(help["command"]?["subcommands"]).filter { $0["commandName"] != "help" }
        // A command that only holds others takes nothing itself.
        let common = commands.map { Set(arguments(of: $0).map(\.text)) }.filter { !$0.isEmpty }
        let shared = common.dropFirst().reduce(common.first ?? []) { $0.intersection($1) }
        let everywhere = arguments(of: commands.first ?? .null).filter { shared.contains($0.text) }
        var text = head + "\n" + table(everywhere)
        for command in commands { text += section(command, without: shared) }
        return text
    }

    private static let head = """
        # The commands

        Every command with its options.

        ## Overview

        Standard output has data only: the absolute path of each file that `run` and `resume` have written, one a line, or
        JSON with `--json` (<doc:JSONOutput>). Everything else goes to standard error.

        A JOB is an id, the start of one, the key that was given with `--key`, or `last`. Commands that
        take a JOB take several, but for `resolve`, `signal` and `watch`.

        | status | means |
        |---|---|
        | 0 | succeeded |
        | 1 | the job failed or was cancelled |
        | 2 | the document or the inputs are wrong; nothing was started |
        | 3 | it is not known whether a service took a submit: look, then `pipeline resolve` |
        | 64 | wrong usage |
        | 75 | suspended, can be resumed |
        | 130 | interrupted twice |

        A setting comes from its flag, else from its `PIPELINE_…` variable, else from
        `$XDG_CONFIG_HOME/pipeline/config.json`; `pipeline config` tells which holds. These flags are the same everywhere:

        """

    private static func section(_ command: JSON, without shared: Set<String>) -> String {
        let words =
            (command["superCommands"]?.array ?? []).compactMap(\.string) + [command["commandName"]?.string ?? ""]
        let own = arguments(of: command).filter { !shared.contains($0.text) }
        var text = "\n## \(words.joined(separator: " "))\n\n\(command["abstract"]?.string ?? "")\n"
        let lines = (command["discussion"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        let prose = lines.filter { !$0.hasPrefix("Example: ") }.joined(separator: "\n")
        let trimmed = prose.split(separator: "\n\n").joined(separator: "\n\n")
        if trimmed.contains(where: { !$0.isWhitespace }) { text += "\n\(trimmed.trimmingNewlines)\n" }
        let examples = lines.filter { $0.hasPrefix("Example: ") }.map { $0.dropFirst("Example: ".count) }
        if !examples.isEmpty { text += "\n```\n\(examples.joined(separator: "\n"))\n```\n" }
        if !own.isEmpty { text += "\n" + table(own) }
        let children = visible(command["subcommands"]).filter { $0["commandName"] != "help" }
        return children.reduce(into: text) { $0 += section($1, without: shared) }
    }

    private static func visible(_ list: JSON?) -> [JSON] {
        (list?.array ?? []).filter { $0["shouldDisplay"] != false }
    }

    private static func arguments(of command: JSON) -> [JSON] {
        visible(command["arguments"]).filter { $0["valueName"] != "help" && $0["valueName"] != "version" }
    }

    private static func table(_ arguments: [JSON]) -> String {
        var text = "| | |\n|---|---|\n"
        for argument in arguments {
            let fallback = argument["defaultValue"]?.string.map { " Default: `\($0)`." } ?? ""
            text += "| \(label(argument)) | \(cell(argument["abstract"]?.string ?? ""))\(fallback) |\n"
        }
        return text
    }

    private static func label(_ argument: JSON) -> String {
        let value = argument["valueName"]?.string ?? ""
        let repeating = argument["isRepeating"] == true ? "…" : ""
        guard argument["kind"] != "positional" else { return "`\(value.uppercased())`\(repeating)" }
        let names = (argument["names"]?.array ?? []).map { name -> String in
            (name["kind"] == "long" ? "--" : "-") + (name["name"]?.string ?? "")
        }
        let suffix = argument["kind"] == "option" ? " \(value.uppercased())" : ""
        return names.map { "`\($0)\(suffix)`" }.joined(separator: ", ") + repeating
    }

    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|").replacing("\n", with: " ") }
}

extension String {
    fileprivate var trimmingNewlines: String {
        String(drop { $0 == "\n" }.reversed().drop { $0 == "\n" }.reversed())
    }
}
