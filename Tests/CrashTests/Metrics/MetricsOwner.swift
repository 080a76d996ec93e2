import Foundation
import PipelineTestKit
import Testing

/// A background owner that gives out metrics, started by hand and ended with the test.
struct MetricsOwner {
    let workplace: Workplace
    let program: RunningProgram
    let url: String

    init(in workplace: Workplace, _ arguments: String..., environment: [String: String] = [:]) async throws {
        self.workplace = workplace
        program = try BuiltProgram(named: "pipeline-daemon").start(
            ["--state-dir", workplace.state, "--metrics", "127.0.0.1:0"] + arguments,
            environment: workplace.environment(environment), folder: workplace.folder)
        #expect(await program.hasWritten("ready, process"), "\(program.text)")
        let address = program.text.firstMatch(of: #/http://127\.0\.0\.1:\d+/metrics/#)
        url = String(try #require(address, "\(program.text)").output)
    }

    /// Ends it by a signal.
    func end(by signal: Int32) async -> ProgramEnd {
        program.signal(signal)
        return await program.end
    }

    /// The page, in a file of that name.
    func fetch(_ name: String, accept: String = "text/plain") async throws -> String {
        let end = try await BuiltProgram(path: "/usr/bin/curl").run(
            [
                "-sS", "--fail", "-D", workplace.path(name + ".head"), "-H", "Accept: \(accept)", "-o",
                workplace.path(name), url,
            ])
        try #require(end.cause == .exited(0), "\(end)")
        return workplace.path(name)
    }

    /// The samples of the page by name and labels.
    func samples() async throws -> [String: Double] {
        let text = try String(contentsOfFile: try await fetch("samples"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return try Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let end = try #require(line.lastIndex(of: " "))
                return (String(line[..<end]), try #require(Double(line[line.index(after: end)...])))
            })
    }
}

/// An owner that gives out metrics while the body runs; ended in any case.
func withMetrics<Result>(
    in workplace: Workplace, environment: [String: String] = [:], _ body: (MetricsOwner) async throws -> Result
) async throws -> Result {
    let owner = try await MetricsOwner(in: workplace, environment: environment)
    do {
        let result = try await body(owner)
        _ = await owner.end(by: SIGKILL)
        return result
    } catch {
        _ = await owner.end(by: SIGKILL)
        throw error
    }
}
