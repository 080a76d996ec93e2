import Foundation
import PipelineTestKit
import Testing

/// The live view of a batch in a real terminal.
@Suite(
    "The live view of a batch", .serialized, .timeLimit(.minutes(3)),
    .disabled(if: Terminal.isMissing, "tmux is not installed: apt-get install tmux"))
struct BatchLiveViewTests {
    private static let document = """
        { "pipeline": 1, "name": "get", "inputs": { "name": { "type": "string" } },
          "batch": { "key": "${{ inputs.name }}" }, "services": { "s": { "url": "${{ env.SERVER }}" } },
          "stages": [ { "id": "fetch", "kind": "download", "service": "s",
                        "request": { "GET": "/${{ inputs.name }}" }, "to": "${{ inputs.name }}.bin" } ] }
        """

    @Test("has a bar for the batch and one for each stage, and by name the items at work and those that failed")
    func bars() async throws {
        let gate = Gate()
        let server = try LoopbackServer { request in
            if request.path == "/bad" { return .status(404) }
            return ScriptedAnswer([.wait(gate), .send(200, [], Array("x".utf8))])
        }
        defer { server.stop() }
        let terminal = try await Terminal(
            "until [ -e ready ]; do sleep 0.01; done; pipeline run a.json --each rows.csv --batch june --at-once 3",
            columns: 100,
            rows: 24, environment: ["SERVER": server.url])
        do {
            try terminal.write("a.json", Self.document)
            try terminal.write("rows.csv", "name\nbad\ntalk-1\ntalk-2\ntalk-3\ntalk-4\n")
            try terminal.write("ready", "")
            let screen = try await terminal.screen { screen in
                screen.contains { $0.hasPrefix("june") && $0.contains("1/5") && $0.contains("3 at work") }
            }
            #expect(screen.contains { $0.hasPrefix("fetch") && $0.contains("░ 0/5  ✗1") }, "\(screen)")
            for name in ["talk-1", "talk-2", "talk-3"] {
                #expect(screen.contains { $0.contains("  \(name)  fetch") }, "\(screen)")
            }
            #expect(screen.contains { $0.contains("✗ bad:") }, "\(screen)")
            gate.open()
            let last = try await terminal.screen { $0.contains { $0.contains("june: 4/5 succeeded, 1 failed") } }
            #expect(last.contains { $0.hasSuffix("talk-4.bin") }, "\(last)")
            #expect(!last.contains { $0.contains("░") }, "nothing of the picture stays: \(last)")
            await terminal.close()
        } catch {
            await terminal.close()
            throw error
        }
    }

    @Test("says why its items do not go on, as long as that holds, and once for how long it waits")
    func unreachable() async throws {
        let port = try LoopbackServer.unusedPort()
        let terminal = try await Terminal(
            "until [ -e ready ]; do sleep 0.01; done; pipeline run a.json --each rows.csv --batch june --at-once 3",
            columns: 120, rows: 24, environment: ["SERVER": "http://127.0.0.1:\(port)"])
        do {
            try terminal.write("a.json", Self.document)
            try terminal.write("rows.csv", "name\ntalk-1\ntalk-2\ntalk-3\ntalk-4\n")
            try terminal.write("ready", "")
            let said = "3 of 3 at work try again: fetch: service 's' gave no answer: "
            let screen = try await terminal.screen { $0.contains { $0.hasPrefix(said) } }
            #expect(screen.contains { $0.hasPrefix("  hint: ") }, "\(screen)")
            let note = "note: waits for up to 24h; Ctrl-C suspends"
            let later = try await terminal.screen { screen in
                screen.contains(note) && screen.contains { $0.hasPrefix(said) }
            }
            #expect(later.contains { $0.hasPrefix("june") }, "\(later)")
            await terminal.close()
        } catch {
            await terminal.close()
            throw error
        }
    }
}
