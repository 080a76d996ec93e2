import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("What a page does to a batch", .timeLimit(.minutes(3)))
struct PageActionTests {
    private static let token = "let-me-in-to-press-buttons"

    @Test("its button begins what failed again, by the background owner, which needs no page")
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
            let pages = try await Pages(in: workplace)
            let id = try await pages.batch()
            let page = try await pages.curl("/batches/\(id)")
            #expect(page.output.contains("value=\"retry\"") && page.output.contains("pipeline retry three"), "\(page)")
            let pressed = try await pages.curl(
                "/actions", "-o", "/dev/null", "-w", "%{http_code}", "-d", "action=retry&job=\(id)")
            #expect(pressed.output == "303")
            _ = try await workplace.waitFor(["succeeded"], of: "three")
            #expect(workplace.bytes(workplace.output + "/b.txt") == Array("text".utf8))
            #expect(server.requests.filter { $0.path == "/a" }.count == 1, "what had succeeded is not done again")
            let after = try await pages.curl("/batches/\(id)")
            #expect(!after.output.contains("value=\"retry\""))
            await pages.end()
        }
    }

    /// It said that nothing had failed, on a page that listed what had.
    @Test("the failed items of a job that let them fail are begun again")
    func tolerated() async throws {
        let server = try LoopbackServer { request in
            request.path == "/b" && request.number <= 3 ? .status(422) : .status(200, body: "{}")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w", "services": { "s": { "url": "\#(server.url)" } },
                  "stages": [ { "id": "get", "kind": "request", "service": "s",
                    "forEach": "${{ ['a', 'b', 'c'] }}", "tolerate": 1, "concurrency": 1,
                    "request": { "GET": "/${{ item }}" } } ] }
                """#)
            let end = try await workplace.run("run", file, "--output", workplace.output)
            #expect(end.cause == .exited(0), "\(end)")
            let pages = try await Pages(in: workplace)
            let id = try #require(end.errors.split(separator: " ").dropFirst().first.map(String.init))
            let page = try await pages.curl("/jobs/\(id)")
            #expect(page.output.contains("value=\"retry\""), "\(page)")
            let pressed = try await pages.curl(
                "/actions", "-o", "/dev/null", "-w", "%{http_code}", "-d", "action=retry&job=\(id)")
            #expect(pressed.output == "303")
            while server.requests.filter({ $0.path == "/b" }).count < 2 {
                _ = try await workplace.waitFor(["succeeded"], of: id)
            }
            _ = try await workplace.waitFor(["succeeded"], of: id)
            #expect(server.requests.filter { $0.path == "/a" }.count == 1)
            let after = try await pages.curl("/jobs/\(id)")
            #expect(!after.output.contains("value=\"retry\""))
            await pages.end()
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
            let pages = try await Pages(in: workplace)
            let id = try await pages.batch()
            let pressed = try await pages.curl("/actions", "-w", "%{http_code}", "-d", "action=resume&job=\(id)")
            #expect(pressed.output.contains("KEY") && pressed.output.contains("is not set"), "\(pressed)")
            #expect(pressed.output.hasSuffix("409"), "it said that the server had failed: \(pressed)")
            await pages.end()
        }
    }

    /// It led back to the list as if both had begun.
    @Test("what its command refuses of several jobs is told too")
    func severalRefused() async throws {
        let server = try LoopbackServer { _ in .status(422) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w",
                  "services": { "s": { "url": "\#(server.url)", "with": [ { "bearer": "${{ secrets.KEY }}" } ] } },
                  "stages": [ { "id": "a", "kind": "request", "service": "s", "request": { "GET": "/" } } ] }
                """#)
            var ids: [String] = []
            for _ in 1...2 {
                _ = try await workplace.run("run", file, environment: ["PIPELINE_SECRET_KEY": "sesame-sesame"])
                ids.append(try #require(try await workplace.show()["job"]?.string))
            }
            let pages = try await Pages(in: workplace)
            let pressed = try await pages.curl(
                "/actions", "-w", "%{http_code}", "-d", "action=retry&job=\(ids[0])&job=\(ids[1])")
            #expect(pressed.output.contains("not all was done: ") && pressed.output.contains("KEY"), "\(pressed)")
            #expect(pressed.output.hasSuffix("409"), "\(pressed)")
            await pages.end()
        }
    }

    private static func document(_ server: LoopbackServer, more: String = "") -> String {
        #"""
        { "pipeline": 1, "name": "w", "inputs": { "n": { "type": "string" } },
          "services": { "s": { "url": "\#(server.url)"\#(more) } },
          "stages": [ { "id": "get", "kind": "download", "service": "s", "request": { "GET": "/${{ inputs.n }}" },
                        "to": "${{ inputs.n }}.txt" } ] }
        """#
    }

    /// Each got a process of its own, of which the first owned the batch: the others were refused and never begun.
    @Test("the button for several failed items of a batch begins all of them, side by side")
    func items() async throws {
        // All are refused first. Then none has its response before all were asked for again.
        let all = Gate()
        let server = try LoopbackServer { request in
            if request.number <= 3 { return .status(422, body: "not yet") }
            let steps: [ScriptedAnswer.Step] = request.number == 6 ? [.open(all)] : []
            return ScriptedAnswer(steps + [.wait(all), .send(200, [], Array("text".utf8))])
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write("w.json", Self.document(server))
            let items = try workplace.write("items.jsonl", "{\"n\":\"a\"}\n{\"n\":\"b\"}\n{\"n\":\"c\"}\n")
            let end = try await workplace.run(
                "run", file, "--each", items, "--batch", "three", "--output", workplace.output)
            #expect(end.cause == .exited(1), "\(end)")
            let pages = try await Pages(in: workplace)
            let id = try await pages.batch()
            let pressed = try await pages.curl(
                "/actions", "-w", "%{http_code}", "-d", "action=retry&all=1&state=failed&batch=\(id)")
            #expect(pressed.output.hasSuffix("303"), "\(pressed)")
            _ = try await workplace.waitFor(["succeeded"], of: "three")
            await pages.end()
            #expect(server.requests.map(\.path).sorted() == ["/a", "/a", "/b", "/b", "/c", "/c"])
        }
    }

    /// The first that was refused ended the turn of all.
    @Test("a batch that can't begin again keeps no other from it, and the page says why")
    func oneOfTwo() async throws {
        let server = try LoopbackServer { request in
            request.number <= 2 ? .status(422, body: "not yet") : .status(200, body: "text")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let bearer = #", "with": [ { "bearer": "${{ secrets.KEY }}" } ]"#
            try workplace.write("secret.json", Self.document(server, more: bearer))
            try workplace.write("open.json", Self.document(server))
            var ids: [String] = []
            for name in ["secret", "open"] {
                let items = try workplace.write("\(name).jsonl", "{\"n\":\"\(name)\"}\n")
                let end = try await workplace.run(
                    "run", workplace.path("\(name).json"), "--each", items, "--batch", name, "--output",
                    workplace.output, environment: ["PIPELINE_SECRET_KEY": "sesame-sesame"])
                #expect(end.cause == .exited(1), "\(end)")
                let shown = try await workplace.show(name)
                ids.append(try #require(shown["job"]?.string))
            }
            let pages = try await Pages(in: workplace)
            let pressed = try await pages.curl("/actions", "-d", "action=retry&job=\(ids[0])&job=\(ids[1])")
            #expect(pressed.output.contains("not all was done") && pressed.output.contains("KEY"), "\(pressed)")
            _ = try await workplace.waitFor(["succeeded"], of: "open")
            await pages.end()
        }
    }

    /// The pages of a workplace's background owner, that may act, asked by curl with their token.
    private struct Pages {
        private let owner: MetricsOwner
        private let address: String
        private let bearer = ["-sS", "-H", "Authorization: Bearer \(PageActionTests.token)"]

        init(in workplace: Workplace) async throws {
            let secret = try workplace.write("token", PageActionTests.token)
            #expect(chmod(secret, 0o600) == 0)
            owner = try await MetricsOwner(
                in: workplace, "--dashboard", "127.0.0.1:0", "--token-file", secret, "--actions")
            let port = try #require(owner.program.text.firstMatch(of: #/pages of the jobs are at [^ ]+:(\d+)/#)).output
                .1
            address = "http://127.0.0.1:\(port)"
        }

        func curl(_ path: String, _ options: String...) async throws -> ProgramEnd {
            try await BuiltProgram(path: "/usr/bin/curl").run(bearer + options + [address + path])
        }

        /// The id of the only batch, from the list.
        func batch() async throws -> Substring {
            try #require(try await curl("/").output.firstMatch(of: #/batches/([0-9a-z]+)/#)).output.1
        }

        func end() async { _ = await owner.end(by: SIGKILL) }
    }
}
