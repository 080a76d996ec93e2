/// The curl commands of texts, in order, as pages, browsers and terminals show them.
struct CurlScript {
    struct Command {
        /// The words after `curl`.
        let arguments: [String]
        /// The remarks on what was left out, a sentence each.
        let remarks: [String]
    }

    private(set) var commands: [Command] = []
    /// The remarks on the commands that are left out, a sentence each.
    private(set) var remarks: [String] = []

    /// - Parameter texts: of one to four commands together, each text of at least one.
    init(_ texts: [String]) throws(CurlMistake) {
        for text in texts { try read(text) }
        guard (1...4).contains(commands.count) else {
            throw CurlMistake(
                "\(commands.count) commands were given",
                hint: "give one to four: an upload, the submit, the poll and the download")
        }
    }

    private mutating func read(_ text: String) throws(CurlMistake) {
        let all = try ShellWords.commands(of: text)
        let found = all.compactMap { Command($0) }
        guard !found.isEmpty else {
            throw CurlMistake(
                "this is no curl command: '\(all.first?.words.first.map(Self.shown) ?? "")'",
                hint: "give --from-curl 'curl https://…'")
        }
        commands += found
        for shell in all where Command(shell) == nil {
            guard let first = shell.words.first else {
                remarks += shell.remarks
                continue
            }
            let rest = shell.words.count > 1 ? " …" : ""
            remarks.append("left out, for it is no curl command: \(Self.shown(first))\(rest)")
        }
    }

    /// The word without the value that it gives a variable, which may be a secret.
    fileprivate static func shown(_ word: String) -> String {
        guard let equals = word.firstIndex(of: "=") else { return String(word.prefix(40)) }
        return "\(word[..<equals].prefix(40))=…"
    }
}

extension CurlScript.Command {
    /// Programs that run the command after them.
    private static let wrappers: Set<String> = ["sudo", "env"]

    /// Takes off what stands before `curl`: `sudo` and `env` with their options, and values of variables. Nil if the
    /// command runs no curl.
    fileprivate init?(_ shell: ShellWords) {
        var words = shell.words[...]
        var before: [String] = []
        while let word = words.first {
            let isOption = word.hasPrefix("-") && !Self.wrappers.isDisjoint(with: before)
            let setsVariable = word.prefixMatch(of: /[A-Za-z_][A-Za-z0-9_]*=/) != nil
            guard isOption || setsVariable || Self.wrappers.contains(word) else { break }
            before.append(CurlScript.shown(word))
            words.removeFirst()
        }
        guard let program = words.popFirst(), program == "curl" || program.hasSuffix("/curl") || program == "curl.exe"
        else { return nil }
        arguments = Array(words)
        remarks = shell.remarks + (before.isEmpty ? [] : ["left out before curl: \(before.joined(separator: ", "))"])
    }
}
