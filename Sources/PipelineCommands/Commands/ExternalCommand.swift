import ArgumentParser
import Glibc
import PipelineStages

/// `pipeline NAME` for a name that is no command of ours: the program `pipeline-NAME` of PATH, as git does it.
enum ExternalCommand {
    /// Becomes the program, when there is one; else returns, and the name is reported like any unknown one.
    static func replaceProcess(arguments: [String], environment: [String: String]) {
        guard arguments.count > 1, !isOurs(arguments[1]) else { return }
        let folders = PluginFolders((environment["PATH"] ?? "").split(separator: ":").map(String.init))
        guard let path = folders.program(called: "pipeline-\(arguments[1])") else { return }
        let words = [path] + arguments.dropFirst(2)
        var pointers = words.map { strdup($0) } + [nil]
        execv(path, &pointers)
        // Only a program that can't be started gets here.
        for pointer in pointers { free(pointer) }
    }

    /// Options, and the commands that are built in, which no program replaces.
    private static func isOurs(_ word: String) -> Bool {
        if word.isEmpty || word.hasPrefix("-") || word == "help" { return true }
        let names = RootCommand.configuration.subcommands.map { $0.configuration.commandName ?? $0._commandName }
        return names.contains(word)
    }
}
