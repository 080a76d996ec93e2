import ArgumentParser
import CLibrary
import PipelineCore
import PipelineStages

/// `pipeline NAME` for a name that is no command of ours: the program `pipeline-NAME` of PATH, as git does it.
enum ExternalCommand {
    /// Becomes the program, when there is one; a name that is neither is refused. Returns for commands of ours.
    ///
    /// `pipeline help NAME` becomes `pipeline-NAME --help`.
    static func replaceProcess(arguments: [String], environment: [String: String]) {
        var words = Array(arguments.dropFirst())
        if words.first == "help", words.count == 2, let topic = HelpTopic(rawValue: words[1]) {
            let console = Console(environment: environment, color: .auto)
            topic.show(on: console)
            console.exit(.succeeded)
        }
        if words.first == "help", words.count > 1 { words = [words[1], "--help"] }
        guard let name = words.first, !isOurs(name) else { return }
        let folders = PluginFolders((environment["PATH"] ?? "").split(separator: ":").map(String.init))
        guard let path = folders.program(called: "pipeline-\(name)") else { refuse(name, environment) }
        words[0] = path
        var pointers = words.map { strdup($0) } + [nil]
        execv(path, &pointers)
        // Only a program that can't be started gets here.
        for pointer in pointers { free(pointer) }
    }

    private static func refuse(_ word: String, _ environment: [String: String]) -> Never {
        let known = others[word] ?? Suggestion.nearest(to: word, among: names)
        let guess = known.map { "did you mean 'pipeline \($0)'?" }
        let error = CommandError(
            .usage, "there is no command '\(word)', and no program pipeline-\(word) in PATH",
            hint: guess ?? "'pipeline --help' lists the commands")
        exit(ErrorReport(error).show(on: Console(environment: environment, color: .auto)).rawValue)
    }

    /// Options, and the commands that are built in, which no program replaces.
    private static func isOurs(_ word: String) -> Bool {
        if word.isEmpty || word.hasPrefix("-") || word == "help" { return true }
        return names.contains(word)
    }

    private static var names: [String] {
        RootCommand.configuration.subcommands.flatMap {
            [$0.configuration.commandName ?? $0._commandName] + $0.configuration.aliases
        }
    }

    /// The names by which other programs call our commands.
    private static let others = [
        "status": "show", "info": "show", "inspect": "show", "describe": "show", "ps": "list", "jobs": "list",
        "start": "run", "exec": "run", "submit": "run", "apply": "run", "continue": "resume", "restart": "retry",
        "rerun": "retry", "stop": "pause", "suspend": "pause", "kill": "cancel", "abort": "cancel", "delete": "rm",
        "remove": "rm", "forget": "rm", "clean": "prune", "gc": "prune", "log": "logs", "events": "logs",
        "tail": "logs", "follow": "watch", "check": "validate", "lint": "validate", "new": "init", "create": "init",
        "dry-run": "plan", "explain": "why", "settings": "config", "completion": "completions",
    ]
}
