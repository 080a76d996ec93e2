import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// Whether a person waits for a job, with the built program: with a terminal and without.
@Suite("Who attends a job", .timeLimit(.minutes(2))) struct InteractivityTests {
    /// A folder with a document of four downloads and a server for them; the third download uses its budget up.
    private struct SourceLocation {
        let program: BuiltProgram
        let folder: String
        let environment: [String: String]

        init(_ server: LoopbackServer, background: String? = #"{ "budget": { "resumes": 2, "base": "1h" } }"#) throws {
            program = try BuiltProgram(named: "pipeline")
            folder = FileManager.default.temporaryDirectory.appending(path: "interactivity-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            environment = BuiltProgram.environment(home: folder, ["SERVER": server.url])
            let stages = ["a", "b", "c", "d"].map { name in
                """
                { "id": "\(name)", "kind": "download", "request": { "GET": "${{ env.SERVER }}/\(name)" }, "to": "\(name)" }
                """
            }
            try """
            { "pipeline": 1, "name": "held", \(background.map { #""background": \#($0),"# } ?? "")
              "stages": [ \(stages.joined(separator: ", ")) ] }
            """.write(toFile: folder + "/held.json", atomically: true, encoding: .utf8)
        }

        func start(_ arguments: String...) throws -> RunningProgram {
            try program.start(arguments, environment: environment, folder: folder)
        }

        func json(_ arguments: String...) async throws -> JSON {
            let end = try await program.run(arguments + ["--json"], environment: environment, folder: folder)
            return try JSON.parse(Array(end.output.utf8))
        }

        /// The command in a real terminal, from its start to its end.
        func inTerminal(_ command: String) async throws -> [String] {
            let terminal = try await Terminal("cd '\(folder)' && \(command)", environment: shared)
            do {
                let screen = try await terminal.screen { $0.contains { $0.hasPrefix("ended with") } }
                await terminal.close()
                return screen
            } catch {
                await terminal.close()
                throw error
            }
        }

        /// The environment of a terminal's shell.
        var shared: [String: String] { environment.filter { ["PIPELINE_STATE_DIR", "SERVER"].contains($0.key) } }

        /// Returns how many rows of the ledger say so.
        func entries(_ charge: String) async throws -> Int {
            try await json("budget")["resumes"]?.array?.count { $0["charge"]?.string == charge } ?? 0
        }

        func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func server() throws -> LoopbackServer { try LoopbackServer { _ in .status(200, body: "x") } }

    @Test("without a terminal the budget that a document states holds a job back, which says so and is stopped at once")
    func held() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let place = try SourceLocation(server)
        defer { place.remove() }
        let job = try place.start("run", "held.json", "--json")
        #expect(await job.hasWritten("note: no terminal is there"))
        let events = try job.text.split(separator: "\n").filter { $0.hasPrefix("{") }.map { try JSON.parse(String($0)) }
        #expect(events.first?["data"]?["attended"] == false)
        let deferred = try #require(events.last)
        #expect(deferred["type"] == "resume.deferred" && deferred["data"]?["delay"] == 3600, "\(deferred.text)")
        #expect(deferred["data"]?["reason"] == "the budget of 2 resumes in 1h is used up")
        let why = try await place.json("why")
        #expect(why["state"] == "waiting", "\(why.text)")
        #expect(why["steps"]?.array?.first?["until"] == deferred["data"]?["until"], "\(why.text)")
        #expect(why["background"]?["ledger"]?["used"] == 3, "\(why.text)")
        #expect(try await place.json("list").array?.first?["state"] == "waiting")
        let words = try await place.start("why").end.output
        #expect(words.contains(/is waiting, held back until (\d{4}-\d\d-\d\d )?\d\d:\d\d\n/), "\(words)")
        job.signal(SIGTERM)
        #expect(await job.end.cause == .exited(75))
        #expect(try await place.entries("counted") == 3)
        // Started again it is held back for longer; a person who takes it up ends that.
        let again = try place.start("resume")
        #expect(await again.hasWritten("held back until"))
        again.signal(SIGINT)
        #expect(await again.end.cause == .exited(75))
        #expect(try await place.entries("attended") == 0)
        let attended = try await place.start("resume", "--attended").end
        #expect(attended.cause == .exited(0), "\(attended)")
        #expect(try await place.entries("attended") == 1)
    }

    @Test("a script is not slowed by what nobody wrote, nor by what is said to be attended")
    func free() async throws {
        let server = try Self.server()
        defer { server.stop() }
        for (background, flags) in [(#"{ "budget": "ios" }"#, ["--attended"]), (nil, [])] as [(String?, [String])] {
            let place = try SourceLocation(server, background: background)
            defer { place.remove() }
            let end = try await place.program.run(
                ["run", "held.json"] + flags, environment: place.environment, folder: place.folder)
            #expect(end.cause == .exited(0) && end.lines.count == 4, "\(end)")
            #expect(try await place.entries("counted") == 0)
        }
    }

    @Test("--attended beside --background or --detach is refused", arguments: ["--background", "--detach"])
    func contradiction(flag: String) async throws {
        let program = try BuiltProgram(named: "pipeline")
        for command in [["run", "x.json"], ["resume", "last"]] {
            let end = try await program.run(command + ["--attended", flag])
            #expect(end.cause == .exited(64), "\(end)")
            #expect(
                end.errors.contains("error: --attended says that a person waits for the job, \(flag) that nobody does"),
                "\(end)")
        }
    }

    @Test(
        "a terminal attends", .disabled(if: Terminal.isMissing, "tmux is not installed"),
        arguments: ["", "< /dev/null 2> log > /dev/tty", "> log 2>&1"])
    func terminal(redirection: String) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let place = try SourceLocation(server)
        defer { place.remove() }
        let screen = try await place.inTerminal("pipeline run held.json \(redirection)")
        #expect(screen.last == "ended with 0", "\(screen)")
        #expect(try await place.entries("counted") == 0)
    }

    @Test(
        "on a terminal --background is held back all the same; the live view says so, and Ctrl-C stops it",
        .disabled(if: Terminal.isMissing, "tmux is not installed"))
    func background() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let place = try SourceLocation(server)
        defer { place.remove() }
        let terminal = try await Terminal(
            "cd '\(place.folder)' && pipeline run held.json --background", environment: place.shared)
        do {
            let held = try await terminal.screen { $0.contains { $0.contains("held back until") } }
            #expect(held.contains { $0.hasPrefix("… d") } && held.count { $0.hasPrefix("✓") } == 3, "\(held)")
            try await terminal.type("C-c")
            let ended = try await terminal.screen { $0.contains { $0.hasPrefix("ended with") } }
            #expect(ended.last == "ended with 75", "\(ended)")
        } catch {
            await terminal.close()
            throw error
        }
        await terminal.close()
        #expect(try await place.entries("attended") == 0)
    }

    @Test(
        "watching on a terminal lets a job go on that is held back",
        .disabled(if: Terminal.isMissing, "tmux is not installed"), arguments: ["", "last"])
    func watching(job name: String) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let place = try SourceLocation(server)
        defer { place.remove() }
        let job = try place.start("run", "held.json")
        #expect(await job.hasWritten("held back until"))
        // Who watches from a script does not count.
        let script = try place.start("watch", "--json")
        #expect(await script.hasWritten("resume.deferred"))
        let screen = try await place.inTerminal("pipeline watch \(name)")
        #expect(screen.last == "ended with 0", "\(screen)")
        #expect(await job.end.cause == .exited(0))
        #expect(await script.end.cause == .exited(0))
        #expect(try await place.entries("attended") == 1)
    }

    @Test(
        "watching one job of a pipeline lets others of it begin, whoever has them",
        .disabled(if: Terminal.isMissing, "tmux is not installed"))
    func others() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let place = try SourceLocation(server)
        defer { place.remove() }
        let daemon = try place.start("daemon")
        #expect(await daemon.hasWritten("ready"))
        for key in ["one", "two"] {
            let end = try await place.start("run", "held.json", "--detach", "--key", key, "--output", key).end
            #expect(end.cause == .exited(0), "\(end)")
            let watch = try place.start("watch", key, "--json")
            #expect(await watch.hasWritten("resume.deferred"))
            watch.signal(SIGKILL)
        }
        let other = try place.start("run", "held.json", "--output", "three")
        #expect(await other.hasWritten("a: held back until"))
        let rest = try place.start("watch", "two", "--json")
        #expect(await rest.hasWritten("resume.deferred"))
        let screen = try await place.inTerminal("pipeline watch one")
        #expect(screen.last == "ended with 0", "\(screen)")
        // Each goes on by what it held back; its next resume is delayed again.
        #expect(await other.hasWritten("b: done"))
        #expect(await rest.hasWritten("resume.deferred", times: 2))
        for program in [other, rest] { program.signal(SIGINT) }
        daemon.signal(SIGTERM)
        #expect(await daemon.end.cause == .exited(0))
    }
}
