import ArgumentParser
import Glibc
import PipelineCore
import PipelineStages

/// `pipeline NAME` for a name that is no command of ours: the program `pipeline-NAME` of PATH, as git does it.
enum ExternalCommand {
    /// Becomes the program, when there is one; a name that is neither is refused. Returns for commands of ours.
    ///
    /// `pipeline help NAME` becomes `pipeline-NAME --help`.
    static func replaceProcess(arguments: [String], environment: [String: String]) {
        var words = Array(arguments.dropFirst())
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
        let guess = Suggestion.nearest(to: word, among: names).map { "did you mean 'pipeline \($0)'?" }
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
        RootCommand.configuration.subcommands.map { $0.configuration.commandName ?? $0._commandName }
    }
}
