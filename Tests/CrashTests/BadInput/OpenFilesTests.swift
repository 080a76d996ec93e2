import Foundation
import PipelineTestKit
import Testing

@Suite("A process that may have few files open")
struct OpenFilesTests {
    private static let many = """
        { "pipeline": 1, "name": "many", "inputs": { "items": { "type": "json" } },
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "get", "kind": "download", "service": "server", "forEach": "inputs.items", "concurrency": 1000,
              "request": { "GET": "/${{ item }}" }, "to": "f${{ item }}" } ] }
        """

    private func run(_ count: Int, limit: Int, in workplace: Workplace, url: String) async throws -> ProgramEnd {
        try workplace.write("many.json", Self.many)
        let command = #"ulimit -n "$1"; exec "$0" run many.json -i "items=$2" --output "$3""#
        return try await BuiltProgram(path: "/bin/sh").run(
            ["-c", command, workplace.program.path, "\(limit)", "\(Array(1...count))", workplace.output],
            environment: workplace.environment(["SERVER_URL": url]), folder: workplace.folder)
    }

    @Test("has as many transfers at a time as they allow, and ends well", arguments: [(40, 64), (150, 128), (40, 40)])
    func many(count: Int, limit: Int) async throws {
        let content = [UInt8](repeating: 65, count: 20)
        let server = try LoopbackServer { _ in
            ScriptedAnswer([.readBody, .head(200, [("Content-Length", "20")]), .slowly(content, milliseconds: 10)])
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let end = try await run(count, limit: limit, in: workplace, url: server.url)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(workplace.files(below: workplace.output).count == count)
        }
    }

    @Test("says so where they are too few for a job, and how to have more")
    func few() async throws {
        try await withWorkplace { workplace in
            let end = try await run(1, limit: 17, in: workplace, url: "http://127.0.0.1:1")
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("only 17 files may be open at a time here"), "\(end)")
            #expect(end.errors.contains("ulimit -n"), "\(end)")
        }
    }

    @Test("a service of the public network alone leads to no address of this machine")
    func publicNetwork() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let document = Documents.download.replacingOccurrences(
                of: "SERVER_URL }}\"", with: "SERVER_URL }}\", \"network\": \"public\"")
            try workplace.write("fetch.json", document)
            let end = try await workplace.run(
                "run", "fetch.json", "--output", workplace.output, environment: ["SERVER_URL": server.url])
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("leads to 127.0.0.1, which is no public address"), "\(end)")
            #expect(server.requests.isEmpty)
        }
    }
}
