import Foundation
import PipelineTestKit
import Testing

@Suite("The pictures of a job", .timeLimit(.minutes(3)))
struct PictureFileTests {
    @Test("of several jobs stand in one file")
    func several() async throws {
        try await withWorkplace { workplace in
            let file = try workplace.write(
                "w.json",
                #"""
                { "pipeline": 1, "name": "w",
                  "stages": [ { "id": "a", "kind": "write", "to": "${{ job.key }}.txt", "text": "1" } ] }
                """#)
            for key in ["one", "two"] {
                let end = try await workplace.run("run", file, "--key", key, "--output", workplace.output)
                #expect(end.cause == .exited(0), "\(end)")
            }
            let one = try await workplace.run("show", "one", "--svg", "one.svg")
            let both = try await workplace.run("show", "one", "two", "--svg", "both.svg")
            #expect(one.errors.contains("1 picture in one.svg") && both.errors.contains("2 pictures in both.svg"))
            let counts = try ["one.svg", "both.svg"].map { name in
                try String(contentsOfFile: "\(workplace.folder)/\(name)", encoding: .utf8)
                    .components(separatedBy: #"<text class="title""#).count - 1
            }
            #expect(counts == [1, 2], "\(one) \(both)")
            let missing = try await workplace.run("show", "one", "three", "--svg", "some.svg")
            #expect(missing.cause == .exited(64) && missing.errors.contains("1 picture in some.svg"), "\(missing)")
        }
    }
}
