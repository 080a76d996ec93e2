import Foundation
import JSONPath
import PipelineKit
import PipelineTestKit
import Testing

/// What somebody meets who types commands: help, completions, manual pages, settings.
@Suite("The command line", .timeLimit(.minutes(3))) struct CommandTests {
    private func run(
        _ arguments: [String], in bench: ExampleBench, environment more: [String: String] = [:]
    ) async throws -> ProgramEnd {
        try await BuiltProgram(named: "pipeline").run(
            arguments, environment: BuiltProgram.environment(home: bench.folder, more), folder: bench.folder)
    }

    private func commands(in bench: ExampleBench) async throws -> [String] {
        let help = try await run(["--help"], in: bench)
        // Commands stand in groups, each under a heading of its own.
        let groups = help.output.components(separatedBy: "SUBCOMMANDS:").dropFirst()
        let lines = groups.flatMap { $0.components(separatedBy: "\n") }
        return lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.contains("See ") }
            .compactMap { $0.split { $0 == " " || $0 == "," }.first.map(String.init) }
    }

    @Test("every command's help has an example of that command")
    func examples() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let commands = try await commands(in: bench)
        #expect(commands.count > 15)
        for command in commands {
            let help = try await run(["help", command], in: bench)
            #expect(help.output.contains("Example: pipeline \(command)"), "\(command)")
        }
    }

    @Test("--version names the commit and the libraries that are loaded")
    func version() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let version = try await run(["--version"], in: bench)
        #expect(version.lines.count == 2)
        #expect(version.lines.first?.wholeMatch(of: /pipeline \d+\.\d+\.\d+ \([0-9a-z_]+\)/) != nil, "\(version)")
        let libraries = /libcurl \d+\.\d+\.\d+.*, SQLite \d+\.\d+\.\d+, zlib \d+\.\d+.*/
        #expect(version.lines.last?.wholeMatch(of: libraries) != nil, "\(version)")
    }

    @Test("'show' gives each stage its kind, in the document's order, those of 'finally' last")
    func shownStages() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "one",
          "stages": [ { "id": "z", "kind": "wait", "for": "1ms" },
            { "id": "a", "kind": "write", "to": "a.txt", "text": "a" } ],
          "finally": [ { "id": "y", "kind": "write", "to": "y.txt", "text": "y" },
            { "id": "b", "kind": "wait", "for": "1ms" } ] }
        """.write(toFile: bench.folder + "/one.json", atomically: true, encoding: .utf8)
        #expect(try await run(["run", "one.json"], in: bench).cause == .exited(0))
        let shown = try JSON.parse(Array(try await run(["show", "--json"], in: bench).output.utf8))
        let stages = (shown["stages"]?.array ?? []).map { [$0["id"]?.string, $0["kind"]?.string] }
        #expect(stages == [["z", "wait"], ["a", "write"], ["y", "write"], ["b", "wait"]])
    }

    @Test("'show' hides secret captures of every stage, and all of a document that can't be planned any more")
    func hiddenCaptures() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try LoopbackServer { _ in .json(#"{"token": "t0ps3cret", "id": "open", "link": "/f?t=t0ps3cret"}"#)
        }
        defer { server.stop() }
        let request = """
            "kind": "request", "request": { "GET": "\(server.url)/x" },
            "capture": { "id": "$.id", "link": "$.link", "token": { "select": "$.token", "secret": true } }
            """
        try #"""
        #!/bin/sh
        read -r message
        case $message in
        *describe*) echo '{"type":"description","protocol":1,"kind":"odd","version":"1","schema":{"type":"object"}}' ;;
        *resume*) echo '{"type":"finished"}' ;;
        esac
        """#.write(toFile: bench.folder + "/pipeline-stage-odd", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: bench.folder + "/pipeline-stage-odd")
        try """
        { "pipeline": 1, "name": "one", "stages": [ { "id": "a", \(request) }, { "id": "odd", "kind": "odd" } ],
          "finally": [ { "id": "b", \(request) } ] }
        """.write(toFile: bench.folder + "/one.json", atomically: true, encoding: .utf8)
        let plugins = ["--plugins", bench.folder]
        let ran = try await run(["run", "one.json"] + plugins, in: bench)
        #expect(ran.cause == .exited(0), "\(ran)")
        for form in [[], ["--json"]] {
            let known = try await run(["show"] + form + plugins, in: bench)
            #expect(known.output.contains("open") && !known.output.contains("t0ps3cret"), "\(known)")
            let unplanned = try await run(["show"] + form, in: bench)
            #expect(unplanned.cause == .exited(0) && unplanned.output.contains("‹secret›"), "\(unplanned)")
            #expect(!unplanned.output.contains("t0ps3cret"), "\(unplanned)")
        }
    }

    @Test("of several runs with one key that begin in the same moment one starts the job, and the others join it")
    func joinedAtOnce() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "one", "stages": [
          { "id": "pause", "kind": "wait", "for": "100ms" },
          { "id": "only", "kind": "write", "to": "a.txt", "text": "a" } ] }
        """.write(toFile: bench.folder + "/one.json", atomically: true, encoding: .utf8)
        let ends = try await withThrowingTaskGroup(of: ProgramEnd.self) { group in
            for _ in 1...5 { group.addTask { try await run(["run", "one.json", "--key", "mine"], in: bench) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for end in ends { #expect(end.cause == .exited(0) && end.output.hasSuffix("/a.txt\n"), "\(end)") }
        #expect(try await run(["list"], in: bench).lines.count == 1)
    }

    @Test("what joins or resumes a job that has ended gives a program its events again, and a person its files")
    func endedAgain() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "one", "stages": [ { "id": "only", "kind": "write", "to": "a.txt", "text": "a" } ] }
        """.write(toFile: bench.folder + "/one.json", atomically: true, encoding: .utf8)
        let first = try await run(["run", "one.json", "--key", "mine", "--json"], in: bench)
        for command in [["run", "one.json", "--key", "mine"], ["resume", "mine"]] {
            let again = try await run(command + ["--json"], in: bench)
            #expect(again.cause == .exited(0) && again.output == first.output, "\(again)")
            let seen = try await run(command, in: bench)
            #expect(seen.lines.count == 1 && seen.lines.first?.hasSuffix("/a.txt") == true, "\(seen)")
        }
    }

    @Test("completions know jobs, their stages and the inputs of a file", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "two", "inputs": { "size": { "type": "number", "default": 1 }, "name": { "type": "string", "default": "a" } },
          "stages": [ { "id": "first", "kind": "write", "to": "a.txt", "text": "a" },
                      { "id": "second", "kind": "write", "to": "b.txt", "text": "b" } ] }
        """.write(toFile: bench.folder + "/two.json", atomically: true, encoding: .utf8)
        #expect(try await run(["run", "two.json", "--key", "mine"], in: bench).cause == .exited(0))
        let script = try await run(["--generate-completion-script", shell], in: bench)
        #expect(script.cause == .exited(0) && script.output.contains("---completion"))
        let jobs = try await complete(["pipeline", "show", ""], "show", "positional@0", shell, bench)
        #expect(jobs.contains("last") && jobs.contains("mine"), "\(jobs)")
        #expect(jobs.contains { $0.count == 26 })
        let stages = try await complete(["pipeline", "retry", "mine", "--from", ""], "retry", "--from", shell, bench)
        #expect(stages == ["first", "second"])
        let inputs = try await complete(["pipeline", "run", "two.json", "-i", ""], "run", "-i", shell, bench)
        #expect(inputs == ["size=", "name="])
    }

    /// Returns what the shell's script asks the program (swift-argument-parser, "Customizing Completions").
    private func complete(
        _ words: [String], _ command: String, _ argument: String, _ shell: String, _ bench: ExampleBench
    ) async throws -> [String] {
        let end = try await run(
            ["---completion", command, "--", argument, String(words.count - 1), "0"] + words, in: bench,
            environment: ["SAP_SHELL": shell])
        return end.lines.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    @Test("each command has a manual page that man takes without a complaint")
    func manual() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let end = try await run(["manual", "."], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        let pages = try FileManager.default.contentsOfDirectory(atPath: bench.folder).filter { $0.hasSuffix(".1") }
        for command in try await commands(in: bench) { #expect(pages.contains("pipeline-\(command).1")) }
        #expect(pages.contains("pipeline.1") && pages.contains("pipeline-plugins-test.1"))
        let page = try String(contentsOfFile: bench.folder + "/pipeline-run.1", encoding: .utf8)
        for mark in [".Sh SYNOPSIS", ".Sh EXAMPLES", "pipeline run selfie.json"] { #expect(page.contains(mark)) }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { try Test.cancel("needs groff") }
        let groff = try await BuiltProgram(path: "/usr/bin/groff").run(
            ["-mdoc", "-Tutf8", "-ww", "-z"] + pages.map { "\(bench.folder)/\($0)" },
            environment: ["PATH": "/usr/bin:/bin"])
        #expect(groff.errors.isEmpty, "\(groff)")
    }

    @Test("a setting comes from the flag, else the variable, else the configuration file")
    func settings() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try write(#"{ "stateDir": "/from/file", "callbackURL": "https://jobs.example.com" }"#, in: bench)
        let file = try await state(bench, ["PIPELINE_STATE_DIR": ""])
        #expect(file == ["value": "/from/file", "from": "configuration file"])
        let variable = try await state(bench, ["PIPELINE_STATE_DIR": "/from/variable"])
        #expect(variable == ["value": "/from/variable", "from": "PIPELINE_STATE_DIR"])
        let flag = try await run(["config", "--json", "--state-dir", "/from/flag"], in: bench)
        #expect(try JSON.parse(flag.output)["stateDir"] == ["value": "/from/flag", "from": "--state-dir"])
        #expect(try JSON.parse(flag.output)["callbackURL"]?["value"] == "https://jobs.example.com")
    }

    private func state(_ bench: ExampleBench, _ more: [String: String]) async throws -> JSON? {
        try JSON.parse(try await run(["config", "--json"], in: bench, environment: more).output)["stateDir"]
    }

    private func write(_ configuration: String, in bench: ExampleBench) throws {
        let folder = bench.folder + "/.config/pipeline"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try configuration.write(toFile: folder + "/config.json", atomically: true, encoding: .utf8)
    }

    @Test("mistakes in the configuration file are told where they stand; its schema is printed")
    func wrongConfiguration() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try write("{\n  \"statDir\": \"/x\", \"secrets\": \"pass\" }", in: bench)
        let end = try await run(["list"], in: bench)
        #expect(end.cause == .exited(2), "\(end)")
        #expect(end.errors.contains("config.json:2:3: error:") && end.errors.contains("did you mean 'stateDir'?"))
        #expect(end.errors.contains("this must be an array"))
        try write("{}", in: bench)
        let schema = try JSON.parse(try await run(["config", "--schema"], in: bench).output)
        #expect(schema["properties"]?["secrets"]?["type"] == "array")
    }

    @Test("the configuration's command gives secrets, after all other sources")
    func secretsCommand() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let program = bench.folder + "/vault"
        try "#!/bin/sh\n[ \"$1\" = get ] && [ \"$2\" = TOKEN ] && echo from-the-vault\n".write(
            toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try write(#"{ "secrets": ["\#(program)", "get"] }"#, in: bench)
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        for name in ["TOKEN", "OTHER"] {
            try """
            { "pipeline": 1, "name": "ask", "stages": [ { "id": "ask", "kind": "request",
                "request": { "GET": "\(server.url)/", "headers": { "X-Token": "${{ secrets.\(name) }}" } } } ] }
            """.write(toFile: "\(bench.folder)/\(name).json", atomically: true, encoding: .utf8)
        }
        #expect(try await run(["run", "TOKEN.json"], in: bench).cause == .exited(0))
        #expect(server.requests.last?.header("X-Token") == "from-the-vault")
        let own = try await run(["run", "TOKEN.json"], in: bench, environment: ["PIPELINE_SECRET_TOKEN": "own-value"])
        #expect(own.cause == .exited(0))
        #expect(server.requests.last?.header("X-Token") == "own-value")
        #expect(try await run(["run", "OTHER.json"], in: bench).errors.contains("the secret OTHER is not set"))
    }

    @Test("'cancel' that can't reach the service for want of a secret says so, and cancels once it is there")
    func cancelWithoutSecret() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try LoopbackServer { request in .json(request.method == "POST" ? #"{"id": 1}"# : "{}") }
        defer { server.stop() }
        try """
        { "pipeline": 1, "name": "slow", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ], "stages": [
            { "id": "job", "kind": "compute",
              "submit": { "POST": "\(server.url)/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "\(server.url)/jobs/${{ self.id }}", "until": "false", "every": "1h" },
              "cancel": { "DELETE": "\(server.url)/jobs/${{ self.id }}" } } ] }
        """.write(toFile: bench.folder + "/slow.json", atomically: true, encoding: .utf8)
        let token = ["PIPELINE_SECRET_TOKEN": "t0p"]
        let killed = try await run(
            ["run", "slow.json"], in: bench,
            environment: token.merging(["PIPELINE_CRASH_AT": "submit.committed"]) { $1 })
        #expect(killed.cause == .killed(9), "\(killed)")
        let without = try await run(["cancel", "last"], in: bench)
        #expect(without.cause == .exited(75) && without.errors.contains("the secret TOKEN is not set"))
        #expect(!server.requests.contains { $0.method == "DELETE" })
        let with = try await run(["cancel", "last"], in: bench, environment: token)
        #expect(with.cause == .exited(0), "\(with)")
        #expect(server.requests.last?.method == "DELETE")
    }
}
