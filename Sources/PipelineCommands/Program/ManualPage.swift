import JSONPath

/// One command's page for man(1), made from the table that also parses its arguments (`_dumpHelp`); mdoc(7).
struct ManualPage {
    /// For example `pipeline-run`.
    let name: String
    let text: String

    /// The pages of a command and of all below it; hidden ones have none.
    static func all(of command: JSON) -> [ManualPage] {
        let children = (command["subcommands"]?.array ?? []).filter { $0["shouldDisplay"] != false }
            .filter { $0["commandName"] != "help" }
        return [ManualPage(command, children)] + children.flatMap(all)
    }

    private init(_ command: JSON, _ children: [JSON]) {
        let words =
            (command["superCommands"]?.array ?? []).compactMap(\.string) + [command["commandName"]?.string ?? ""]
        name = words.joined(separator: "-")
        let arguments = (command["arguments"]?.array ?? []).filter { $0["shouldDisplay"] != false }
        var lines = [
            ".Dd $Mdocdate$", ".Dt \(name.uppercased()) 1", ".Os pipeline \(ProgramVersion.number)", ".Sh NAME",
        ]
        lines += [".Nm \(name)", ".Nd \(Self.plain(command["abstract"]?.string ?? ""))", ".Sh SYNOPSIS"]
        lines += [".Nm \(words.joined(separator: " "))"] + arguments.map { Self.synopsis($0) }
        if !children.isEmpty { lines.append(".Ar command") }
        lines += [".Sh DESCRIPTION"] + Self.paragraphs(command)
        if !arguments.isEmpty { lines += [".Sh OPTIONS", ".Bl -tag -width indent"] }
        lines += arguments.flatMap { Self.item($0) }
        if !arguments.isEmpty { lines.append(".El") }
        if !children.isEmpty { lines += [".Sh COMMANDS", ".Bl -tag -width indent"] }
        for child in children {
            let word = child["commandName"]?.string ?? ""
            lines += [".It Xr \(name)-\(word) 1", Self.plain(child["abstract"]?.string ?? "")]
        }
        if !children.isEmpty { lines.append(".El") }
        lines += Self.examples(command) + (words.count == 1 ? Self.statuses : [])
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func synopsis(_ argument: JSON) -> String {
        let isOptional = argument["isOptional"] != false
        let repeating = argument["isRepeating"] == true ? " ..." : ""
        guard argument["kind"] != "positional" else {
            let value = plain(argument["valueName"]?.string ?? "")
            return (isOptional ? ".Op Ar " : ".Ar ") + value + repeating
        }
        let value = argument["kind"] == "option" ? " Ar \(plain(argument["valueName"]?.string ?? ""))" : ""
        return (isOptional ? ".Op Fl " : ".Fl ") + flag(argument["preferredName"] ?? .null) + value + repeating
    }

    private static func item(_ argument: JSON) -> [String] {
        let value = plain(argument["valueName"]?.string ?? "")
        var head = ".It Ar \(value)"
        if argument["kind"] != "positional" {
            let names = (argument["names"]?.array ?? []).map { "Fl " + flag($0) }.joined(separator: " , ")
            head = ".It \(names)" + (argument["kind"] == "option" ? " Ar \(value)" : "")
        }
        let fallback = argument["defaultValue"]?.string.map { "The default is \(plain($0))." }
        let summary = argument["abstract"]?.string.map(plain)
        return [head] + [summary, fallback].compactMap(\.self)
    }

    /// `-` is what `Fl` puts before it.
    private static func flag(_ name: JSON) -> String {
        let text = name["name"]?.string ?? ""
        return name["kind"] == "long" ? "-\(text)" : text
    }

    private static func paragraphs(_ command: JSON) -> [String] {
        let text = [command["abstract"]?.string, command["discussion"]?.string].compactMap(\.self)
            .joined(separator: "\n\n")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("Example: ") }
        var result: [String] = []
        for line in lines {
            if line.allSatisfy(\.isWhitespace) {
                if result.last != ".Pp" { result.append(".Pp") }
            } else {
                result.append(plain(String(line)))
            }
        }
        while result.last == ".Pp" { result.removeLast() }
        return result
    }

    private static func examples(_ command: JSON) -> [String] {
        let lines = (command["discussion"]?.string ?? "").split(separator: "\n").filter { $0.hasPrefix("Example: ") }
        guard !lines.isEmpty else { return [] }
        return [".Sh EXAMPLES", ".Bd -literal"] + lines.map { plain(String($0.dropFirst("Example: ".count))) } + [".Ed"]
    }

    private static let statuses = [
        ".Sh EXIT STATUS", ".Bl -tag -width indent", ".It 0", "succeeded", ".It 1", "the job failed or was cancelled",
        ".It 2", "the document or the inputs are wrong; nothing was started", ".It 3",
        "it is not known whether a service took a submit", ".It 64", "wrong usage", ".It 75",
        "suspended, can be resumed", ".It 130", "interrupted twice", ".El",
    ]

    /// Text that roff takes as it is.
    private static func plain(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\": return "\\e"
            case "-": return "\\-"
            case _ where scalar.value > 126:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                return "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            default: return String(scalar)
            }
        }.joined()
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
