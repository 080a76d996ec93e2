import Foundation
import PipelineTestKit
import Testing

@Suite("What a page does to a batch", .timeLimit(.minutes(3)))
struct PageActionTests {
    private static let token = "let-me-in-to-press-buttons"

    @Test("its button begins what failed anew, in a process that needs no page")
    func retry() async throws {
        // One after the other, each item asks once; the first time the middle one is refused.
        let server = try LoopbackServer { request in
            request.path == "/b" && request.number <= 3
                ? .status(422, body: "not this one") : .status(200, body: "text")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "inputs": { "n": { "type": "string" } },
                  "services": { "s": { "url": "\#(server.url)" } },
                  "stages": [ { "id": "get", "kind": "download", "service": "s", "request": { "GET": "/${{ inputs.n }}" },
                                "to": "${{ inputs.n }}.txt" } ] }
                """#)
            let items = try workplace.write("items.jsonl", "{\"n\":\"a\"}\n{\"n\":\"b\"}\n{\"n\":\"c\"}\n")
            let end = try await workplace.run(
                "run", file, "--each", items, "--batch", "three", "--output", workplace.output, "--at-once", "1")
            #expect(end.cause == .exited(1), "\(end)")
            let secret = try workplace.write("token", Self.token)
            #expect(chmod(secret, 0o600) == 0)
            let owner = try await MetricsOwner(
                in: workplace, "--dashboard", "127.0.0.1:0", "--token-file", secret, "--actions")
            let address = try #require(owner.program.text.firstMatch(of: #/pages of the jobs are at [^ ]+:(\d+)/#))
            let base = "http://127.0.0.1:\(address.output.1)"
            let curl = BuiltProgram(path: "/usr/bin/curl")
            let bearer = ["-sS", "-H", "Authorization: Bearer \(Self.token)"]
            let list = try await curl.run(bearer + ["\(base)/"])
            let id = try #require(list.output.firstMatch(of: #/batches/([0-9a-z]+)/#)).output.1
            let page = try await curl.run(bearer + ["\(base)/batches/\(id)"])
            #expect(page.output.contains("value=\"retry\"") && page.output.contains("pipeline retry three"), "\(page)")
            let pressed = try await curl.run(
                bearer + ["-o", "/dev/null", "-w", "%{http_code}", "-d", "action=retry&job=\(id)", "\(base)/actions"])
            #expect(pressed.output == "303")
            _ = try await workplace.waitFor(["succeeded"], of: "three")
            #expect(workplace.bytes(workplace.output + "/b.txt") == Array("text".utf8))
            #expect(server.requests.filter { $0.path == "/a" }.count == 1, "what had succeeded is not done again")
            let after = try await curl.run(bearer + ["\(base)/batches/\(id)"])
            #expect(!after.output.contains("value=\"retry\""))
            _ = await owner.end(by: SIGKILL)
        }
    }

    @Test("what its command refuses is told on the page, with what to do")
    func refused() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"{ "pipeline": 1, "name": "w", "inputs": { "n": { "type": "string" } }, "services": { "s": { "url": "http://127.0.0.1:1", "with": [ { "bearer": "${{ secrets.KEY }}" } ] } }, "stages": [ { "id": "a", "kind": "request", "service": "s", "request": { "GET": "/${{ inputs.n }}" }, "retry": { "attempts": 1, "for": "0s" } } ] }"#
            )
            let items = try workplace.write("items.jsonl", "{\"n\":\"a\"}\n")
            _ = try await workplace.run(
                "run", file, "--each", items, "--batch", "one", "--output", workplace.output,
                environment: ["PIPELINE_SECRET_KEY": "sesame-sesame"])
            let secret = try workplace.write("token", Self.token)
            #expect(chmod(secret, 0o600) == 0)
            let owner = try await MetricsOwner(
                in: workplace, "--dashboard", "127.0.0.1:0", "--token-file", secret, "--actions")
            let address = try #require(owner.program.text.firstMatch(of: #/pages of the jobs are at [^ ]+:(\d+)/#))
            let base = "http://127.0.0.1:\(address.output.1)"
            let curl = BuiltProgram(path: "/usr/bin/curl")
            let bearer = ["-sS", "-H", "Authorization: Bearer \(Self.token)"]
            let id = try #require(
                try await curl.run(bearer + ["\(base)/"]).output.firstMatch(of: #/batches/([0-9a-z]+)/#)
            ).output.1
            let pressed = try await curl.run(bearer + ["-d", "action=resume&job=\(id)", "\(base)/actions"])
            #expect(pressed.output.contains("KEY") && pressed.output.contains("is not set"), "\(pressed)")
            _ = await owner.end(by: SIGKILL)
        }
    }
}
