import Foundation
import PipelineTestKit
import Testing

/// The live view in a real terminal, its screens captured by tmux.
@Suite(
    "The live view", .serialized, .timeLimit(.minutes(3)),
    .disabled(if: Terminal.isMissing, "tmux is not installed: apt-get install tmux"))
struct LiveViewTests {
    /// A server that sends a third of a file, goes on slowly, then waits for the gate.
    private struct Slow {
        let gate = Gate()
        let server: LoopbackServer

        init() throws {
            server = try LoopbackServer { [gate] _ in
                ScriptedAnswer([
                    .head(200, [("Content-Length", "30000000")]), .filled(10_000_000),
                    .slowly([UInt8](repeating: 1, count: 100), milliseconds: 50), .wait(gate), .filled(19_999_900),
                ])
            }
        }
    }

    private static let download = """
        { "pipeline": 1, "name": "get", "services": { "s": { "url": "${{ env.SERVER }}" } },
          "stages": [ { "id": "fetch", "kind": "download", "service": "s", "request": { "GET": "/x" }, "to": "big.bin" },
                      { "id": "after", "kind": "write", "to": "done.txt", "text": "done" } ] }
        """

    /// A terminal in which a document runs, that has waited until its files are there.
    private func terminal(
        _ document: String, _ options: String = "", server: LoopbackServer, columns: Int = 100, rows: Int = 24,
        environment: [String: String] = [:]
    ) async throws -> Terminal {
        let terminal = try await Terminal(
            "until [ -e ready ]; do sleep 0.01; done; pipeline run a.json \(options)", columns: columns, rows: rows,
            environment: environment.merging(["SERVER": server.url]) { $1 })
        try terminal.write("a.json", document)
        try terminal.write("ready", "")
        return terminal
    }

    private func with<Result>(_ terminal: Terminal, _ body: (Terminal) async throws -> Result) async throws -> Result {
        do {
            let result = try await body(terminal)
            await terminal.close()
            return result
        } catch {
            await terminal.close()
            throw error
        }
    }

    @Test("a transfer has a bar with bytes and share; a narrow window gets what fits, and widening it brings all back")
    func transfer() async throws {
        let slow = try Slow()
        defer { slow.server.stop() }
        try await with(try await terminal(Self.download, server: slow.server)) { terminal in
            let wide = try await terminal.screen { $0.contains { $0.contains("█") && $0.contains("of 28.6 MiB") } }
            let line = try #require(wide.first { $0.contains("fetch") })
            #expect(line.contains("░") && line.contains(" %"), "\(line)")
            #expect(wide.contains { $0.hasPrefix("· after") })

            try await terminal.resize(columns: 26, rows: 24)
            let narrow = try await terminal.screen { screen in
                screen.count { $0.contains("fetch") } == 1 && screen.contains { $0.contains(" %") }
                    && !screen.contains { $0.contains("░") || $0.contains("of 28") }
            }
            #expect(Self.stages(narrow).count == 2, "\(narrow)")

            try await terminal.resize(columns: 120, rows: 24)
            let again = try await terminal.screen { $0.contains { $0.contains("█") && $0.contains("of 28.6 MiB") } }
            #expect(again.count { $0.contains("fetch") } == 1, "\(again)")
            #expect(Self.stages(again).count == 2, "\(again)")
            slow.gate.open()
            let end = try await terminal.screen { $0.contains("ended with 0") }
            #expect(end.contains { $0.hasPrefix("✓ fetch") && $0.contains("28.6 MiB in ") }, "\(end)")
            #expect(end.contains { $0.hasPrefix("✓ after") })
            #expect(Self.stages(end).count == 5, "a clean summary, the files, the status: \(end)")
        }
    }

    @Test("a remote job has a spinner and the time left with its interval")
    func estimate() async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            if request.method == "POST" { return .json(#"{"id":"j"}"#, status: 201) }
            return request.number < 3 || !gate.isOpen ? .json(#"{"state":"running"}"#) : .json(#"{"state":"done"}"#)
        }
        defer { server.stop() }
        let document = """
            { "pipeline": 1, "name": "model", "services": { "s": { "url": "${{ env.SERVER }}" } },
              "stages": [ { "id": "model", "kind": "compute", "service": "s", "estimate": "60s",
                "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
                "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                          "every": "200ms" } } ] }
            """
        try await with(try await terminal(document, server: server)) { terminal in
            let seen = try await terminal.screen { $0.contains { $0.contains(" left, 90 % within ") } }
            let line = try #require(seen.first { $0.contains("model") })
            #expect(line.contains("about ") && "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(line.prefix(1)), "\(line)")
            // It spins: the mark changes while nothing else does.
            _ = try await terminal.screen { $0.dropFirst().first?.prefix(1) != line.prefix(1) }
            gate.open()
            _ = try await terminal.screen { $0.contains("ended with 0") }
        }
    }

    /// The lines below that of the job, which a window that becomes narrower may push out at its top.
    private static func stages(_ screen: [String]) -> [String] { screen.filter { !$0.hasPrefix("job ") } }

    /// A stage of sixty items, four at a time, whose third fails.
    private static let many = """
        { "pipeline": 1, "name": "many", "services": { "s": { "url": "${{ env.SERVER }}" } },
          "stages": [ { "id": "get", "kind": "request", "service": "s", "concurrency": 4, "continueOnFailure": true,
            "forEach": "split('\((0..<60).map(String.init).joined(separator: ","))', ',')",
            "request": { "GET": "/${{ item }}" } } ] }
        """

    @Test("a repeated stage is one bar with counts, and by name the items that are at work or failed, as room allows")
    func many() async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            if request.path == "/2" { return .json("{}", status: 404) }
            // By the item: requests of items that are at work at the same time come in any order.
            let isFirst = Int(request.path.dropFirst()).map { $0 < 20 } ?? false
            return isFirst ? .json("{}") : ScriptedAnswer([.wait(gate), .send(200, [], [])])
        }
        defer { server.stop() }
        try await with(try await terminal(Self.many, server: server, rows: 10)) { terminal in
            let seen = try await terminal.screen { screen in
                (20...23).allSatisfy { item in screen.contains { $0.contains("get[\(item)]") } }
                    && screen.contains { $0.contains("20/60  ✗1  4 at work") }
            }
            #expect(seen.contains { $0.contains("✗   get[2]") } && seen.count == 7, "\(seen)")
            gate.open()
            let end = try await terminal.screen { $0.contains("ended with 0") }
            #expect(end.contains { $0.hasPrefix("✓ get") && $0.contains("60 items  ✗1") }, "\(end)")
            #expect(end.contains { $0.contains("warning: 1 of 60 items of stage 'get' failed") }, "\(end)")
        }
    }

    @Test("more stages than the window has rows are summed up, those at work shown")
    func manyStages() async throws {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let stages = (0..<20).map { number in
            #"{ "id": "s\#(number)", "kind": "request", "service": "s", "request": { "GET": "/" } }"#
        }
        let document = """
            { "pipeline": 1, "name": "many", "services": { "s": { "url": "${{ env.SERVER }}" } },
              "stages": [ \(stages.joined(separator: ",")) ] }
            """
        try await with(try await terminal(document, server: server, rows: 10)) { terminal in
            let seen = try await terminal.screen { $0.contains { $0.contains("12 more: 12 to come") } }
            #expect(seen.contains { $0.contains("s0") } && Self.stages(seen).count == 9, "\(seen)")
        }
    }

    @Test("a window that becomes narrower has one line of each stage at any width, and nothing of earlier pictures")
    func narrower() async throws {
        let server = try LoopbackServer { request in
            request.method == "POST" ? .json(#"{"id":"j"}"#, status: 201) : .json(#"{"state":"running"}"#)
        }
        defer { server.stop() }
        let names = ["model", "a-stage-with-a-very-long-name-indeed", "another", "last"]
        let stages = names.map { name in
            """
            { "id": "\(name)", "kind": "compute", "service": "s", "estimate": "60s", "needs": [],
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"], "every": "200ms" } }
            """
        }
        let document = """
            { "pipeline": 1, "name": "model", "services": { "s": { "url": "${{ env.SERVER }}" } },
              "stages": [ \(stages.joined(separator: ",")), { "id": "keep", "kind": "write", "to": "x", "text": "x" } ] }
            """
        try await with(try await terminal(document, server: server)) { terminal in
            _ = try await terminal.screen { $0.count { $0.contains(" left, 90 % within ") } == 4 }
            for columns in [45, 20, 70, 20, 100] {
                try await terminal.resize(columns: columns, rows: 24)
                let spins = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
                // Some pictures later it is still so.
                for turn in spins.prefix(4) {
                    let seen = try await terminal.screen { screen in
                        let stages = Self.stages(screen)
                        return stages.count == 5 && stages.first?.first == turn
                            && stages.prefix(4).allSatisfy { spins.contains($0.prefix(1)) }
                            && stages.last?.hasPrefix("· keep") == true
                    }
                    #expect(seen.count <= 6, "\(columns): \(seen)")
                }
            }
        }
    }

    @Test("what has ended before a resume is shown as done")
    func resumed() async throws {
        let slow = try Slow()
        defer { slow.server.stop() }
        let document = Self.download.replacing(
            #""stages": ["#, with: #""stages": [ { "id": "first", "kind": "write", "to": "first.txt", "text": "x" },"#)
        try await with(try await terminal(document, "; pipeline resume last", server: slow.server)) { terminal in
            _ = try await terminal.screen { $0.contains { $0.contains("█") } }
            try await terminal.type("C-c")
            let seen = try await terminal.screen { screen in
                let second = screen.drop { !$0.hasPrefix("suspended") }
                return second.contains { $0.hasPrefix("✓ first") } && second.contains { $0.hasPrefix("· after") }
            }
            #expect(seen.count { $0.hasPrefix("job ") } == 2, "\(seen)")
        }
    }

    @Test("colours are used on a terminal, and not with NO_COLOR or --color never")
    func colors() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let document =
            #"{ "pipeline": 1, "name": "a", "stages": [ { "id": "a", "kind": "write", "to": "a", "text": "x" } ] }"#
        for (options, environment, isColored) in [
            ("", [:], true), ("", ["NO_COLOR": "1"], false), ("--color never", [:], false),
        ] as [(String, [String: String], Bool)] {
            let one = try await terminal(document, options, server: server, environment: environment)
            try await with(one) { terminal in
                let seen = try await terminal.screen(colors: true) { $0.contains { $0.contains("ended with 0") } }
                let line = try #require(seen.first { $0.contains("✓") })
                #expect(line.contains("\u{1B}[32m") == isColored, "\(options) \(environment): \(line.debugDescription)")
            }
        }
    }

    @Test("with --plain, and into a pipe, there is a line for each change, without bars or escapes")
    func plain() async throws {
        for options in ["--plain", "2>&1 | cat"] {
            let server = try LoopbackServer { _ in .filled(3000) }
            defer { server.stop() }
            try await with(try await terminal(Self.download, options, server: server)) { terminal in
                let seen = try await terminal.screen { $0.contains("ended with 0") }
                #expect(seen.contains("fetch: started") && seen.contains("fetch: done"), "\(seen)")
                #expect(!seen.contains { $0.contains("█") || $0.contains("✓") || $0.contains("\u{1B}") }, "\(seen)")
            }
        }
    }

    @Test("Ctrl-C suspends, and leaves the screen clean with the command that goes on")
    func interrupted() async throws {
        let slow = try Slow()
        defer { slow.server.stop() }
        try await with(try await terminal(Self.download, server: slow.server)) { terminal in
            _ = try await terminal.screen { $0.contains { $0.contains("█") } }
            try await terminal.type("C-c")
            let end = try await terminal.screen { $0.contains("ended with 75") }
            #expect(end.contains { $0.hasPrefix("suspended (interrupted); go on with: pipeline resume ") }, "\(end)")
            #expect(end.count { $0.contains("fetch") } == 1, "\(end)")
        }
    }
}
