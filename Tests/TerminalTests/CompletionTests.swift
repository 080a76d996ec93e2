import Foundation
import PipelineTestKit
import Testing

/// Completions as they are used: real shells in a real terminal, Tab pressed.
@Suite(
    "Completions", .serialized, .timeLimit(.minutes(3)),
    .disabled(if: Terminal.isMissing, "tmux is not installed: apt-get install tmux"))
struct CompletionTests {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish

        static let installed = allCases.filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

        /// Where it looks for the script of completions, below the home folder.
        var script: String {
            switch self {
            case .bash: "pipeline.bash"
            case .zsh: "functions/_pipeline"
            case .fish: ".config/fish/completions/pipeline.fish"
            }
        }

        /// What its own configuration needs.
        var configuration: (path: String, text: String) {
            switch self {
            case .bash: ("rc", "source ~/pipeline.bash\nPS1='> '\nbind 'set bell-style none'\n")
            case .zsh:
                (".zshrc", "fpath=(~/functions $fpath)\nautoload -U compinit\ncompinit -u -D\nPS1='> '\n")
            case .fish: (".config/fish/config.fish", "function fish_prompt; echo -n '> '; end\nset fish_greeting\n")
            }
        }

        var command: String {
            switch self {
            case .bash: "exec bash --rcfile ~/rc -i"
            case .zsh: "exec zsh -i"
            case .fish: "exec fish -i"
            }
        }
    }

    /// What is typed before Tab, and what the shell then shows.
    static let lines: [(typed: String, shown: [String])] = [
        ("pipeline show ", ["last", "mine"]), ("pipeline retry mine --from ", ["first", "second"]),
        ("pipeline run two.json -i ", ["size=", "name="]), ("pipeline bud", ["pipeline budget"]),
        ("pipeline stats t", ["pipeline stats two"]), ("pipeline init openai", ["pipeline init openai-batch"]),
    ]

    @Test(
        "Tab completes jobs, their stages and the inputs of a document", arguments: Shell.installed,
        lines.indices)
    func completes(shell: Shell, line: Int) async throws {
        let (typed, shown) = Self.lines[line]
        let terminal = try await Terminal(
            "until [ -e ready ]; do sleep 0.01; done; \(shell.command)", columns: 120, rows: 40)
        do {
            try await prepare(shell, terminal.folder)
            try terminal.write("ready", "")
            _ = try await terminal.screen { $0.contains { $0.hasPrefix(">") } }
            try await terminal.type(typed, literally: true)
            _ = try await terminal.screen { $0.contains { $0.contains(typed.trimmingCharacters(in: .whitespaces)) } }
            // The first Tab of bash completes what is common, the second shows the rest.
            for _ in 0..<(shell == .bash ? 2 : 1) { try await terminal.type("Tab") }
            _ = try await terminal.screen { screen in
                shown.allSatisfy { word in screen.contains { $0.contains(word) } }
            }
        } catch {
            await terminal.close()
            throw error
        }
        await terminal.close()
    }

    /// A journal with one job under the key `mine`, and the shell's script.
    private func prepare(_ shell: Shell, _ folder: String) async throws {
        let environment = BuiltProgram.environment(home: folder)
        let program = try BuiltProgram(named: "pipeline")
        try """
        { "pipeline": 1, "name": "two",
          "inputs": { "size": { "type": "number", "default": 1 }, "name": { "type": "string", "default": "a" } },
          "stages": [ { "id": "first", "kind": "write", "to": "a.txt", "text": "a" },
                      { "id": "second", "kind": "write", "to": "b.txt", "text": "b" } ] }
        """.write(toFile: folder + "/two.json", atomically: true, encoding: .utf8)
        let end = try await program.run(["run", "two.json", "--key", "mine"], environment: environment, folder: folder)
        try #require(end.cause == .exited(0), "\(end)")
        let script = try await program.run(["--generate-completion-script", shell.rawValue], environment: environment)
        for (path, text) in [(shell.script, script.output), shell.configuration] {
            let file = URL(filePath: "\(folder)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }
}
