import Foundation
import PipelineTestKit
import Testing

/// What `list` shows in a real terminal.
@Suite(
    "The table of jobs", .serialized, .timeLimit(.minutes(3)),
    .disabled(if: Terminal.isMissing, "tmux is not installed: apt-get install tmux"))
struct ListTests {
    private static let good = """
        { "pipeline": 1, "name": "recordings", "inputs": { "audio": { "type": "file" } },
          "stages": [ { "id": "a", "kind": "write", "to": "a", "text": "x" } ] }
        """
    private static let bad = """
        { "pipeline": 1, "name": "bad", "retry": { "attempts": 1, "for": "1ms" },
          "stages": [ { "id": "a", "kind": "request", "request": { "GET": "http://127.0.0.1:1/" } } ] }
        """

    @Test("it has a header, is aligned to the window's width, and what a narrow one can't hold is left out")
    func table() async throws {
        let terminal = try await Terminal(
            """
            until [ -e ready ]; do sleep 0.01; done; exec 2>/dev/null; pipeline run good.json -i audio=sound.wav >out
            pipeline run bad.json --key mine; clear; pipeline ls; echo ready
            while read width; do
                until [ "$(stty size </dev/tty | cut -d ' ' -f 2)" = "$width" ]; do sleep 0.01; done
                clear; pipeline list; echo "at $width"
            done
            """)
        do {
            for (name, text) in [("good.json", Self.good), ("bad.json", Self.bad), ("sound.wav", "x"), ("ready", "")] {
                try terminal.write(name, text)
            }
            let wide = try await terminal.screen { $0.last == "ready" }
            try #require(wide.count == 4, "\(wide)")
            #expect(wide[0].split(separator: " ").prefix(5) == ["ID", "NAME", "FOR", "STATE", "AGE"], "\(wide)")
            #expect(wide[1].contains(/^[0-9a-z]{8,} +bad +mine +/), "\(wide)")
            #expect(wide[2].contains("sound.wav  succeeded"), "\(wide)")
            let columns = try ["NAME", "FOR", "STATE"].map { try #require(wide[0].range(of: $0)?.lowerBound) }
            for line in wide[1...2] {
                for column in columns {
                    let before = line[line.index(before: column)]
                    #expect(before == " " && line[column] != " ", "\(wide)")
                }
            }
            for (width, titles) in [(45, ["ID", "NAME", "STATE"]), (20, ["ID", "STATE"])] {
                try await terminal.resize(columns: width, rows: 24)
                try await terminal.type("\(width)", literally: true)
                try await terminal.type("Enter")
                let seen = try await terminal.screen { $0.last == "at \(width)" }
                try #require(seen.count == 4 && titles.allSatisfy { seen[0].contains($0) }, "\(seen)")
                #expect(seen[2].contains("succeeded") && !seen[0].contains("FOR"), "\(seen)")
            }
            let colored = try await terminal.screen(colors: true)
            #expect(colored.contains { $0.contains("\u{1B}[32msucceeded") }, "\(colored)")
        } catch {
            await terminal.close()
            throw error
        }
        await terminal.close()
    }
}
