import Foundation
import PipelineTestKit
import Testing

@Suite("The command dashboard", .timeLimit(.minutes(3)))
struct DashboardCommandTests {
    @Test("serves the folder that it was given, at the address that it was given, and metrics with it")
    func served() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"{ "pipeline": 1, "name": "w", "stages": [ { "id": "a", "kind": "write", "to": "a.txt", "text": "1" } ] }"#
            )
            let other = workplace.path("other")
            let made = try await workplace.run(
                "run", file, "--state-dir", other, "--key", "Known.by_this", "--output", workplace.output)
            #expect(made.cause == .exited(0), "\(made)")
            let token = workplace.path("token")
            try "let-me-in-to-read-metrics".write(toFile: token, atomically: true, encoding: .utf8)
            #expect(chmod(token, 0o600) == 0)
            // A port that was free a moment ago.
            let server = try LoopbackServer { _ in .json("{}") }
            let url = server.url
            server.stop()
            let address = String(url.dropFirst("http://".count))
            let program = try workplace.start(
                "dashboard", "--state-dir", other, "--listen", address, "--token-file", token, "--print-only")
            let isServed = await program.hasWritten("\n")
            let curl = BuiltProgram(path: "/usr/bin/curl")
            let bearer = ["-s", "-H", "Authorization: Bearer let-me-in-to-read-metrics"]
            let page = try await curl.run(bearer + ["\(url)/"])
            let metrics = try await curl.run(bearer + ["\(url)/metrics"])
            program.signal(SIGTERM)
            _ = await program.end
            #expect(isServed)
            #expect(page.output.contains("Known.by_this"), "\(page)")
            #expect(metrics.output.contains("pipeline_build_info{"), "\(metrics)")
            #expect(!FileManager.default.fileExists(atPath: workplace.state), "the other folder is left alone")
        }
    }

    /// They did nothing, and nothing was said: the token was refused, and there were no buttons.
    @Test("says that options of the pages do nothing where the background owner serves these")
    func ownersPages() async throws {
        try await withWorkplace { workplace in
            let owner = try await MetricsOwner(in: workplace, "--dashboard", "127.0.0.1:0")
            let plain = try await workplace.run("dashboard", "--print-only")
            var told: [(option: String, end: ProgramEnd)] = []
            for words in [["--actions"], ["--token-file", "nofile"], ["--base-path", "/p"], ["--allow-host", "a.b"]] {
                let end = try await workplace.program.run(
                    ["dashboard", "--print-only"] + words, environment: workplace.environment(),
                    folder: workplace.folder)
                told.append((words[0], end))
            }
            _ = await owner.end(by: SIGKILL)
            #expect(plain.cause == .exited(0) && plain.output.contains("/sign-in?key="), "\(plain)")
            for (option, end) in told {
                #expect(end.cause == .exited(0) && end.output.contains("/sign-in?key="), "\(end)")
                #expect(end.errors.contains("\(option) does nothing here") && end.errors.contains("--listen"), "\(end)")
            }
        }
    }
}
