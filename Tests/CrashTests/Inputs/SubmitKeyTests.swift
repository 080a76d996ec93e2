import Foundation
import PipelineTestKit
import Testing

/// The keys by which a service recognises a repetition, by the built program, with a journal that knows nothing of before.
@Suite("The key of a submit")
struct SubmitKeyTests {
    private static let document = """
        { "pipeline": 1, "name": "keyed",
          "inputs": { "audio": { "type": "file" }, "language": { "type": "string", "default": "en" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "send", "kind": "request", "service": "api",
              "request": { "POST": "/texts", "json": {
                "text": "${{ text(inputs.audio) }}", "language": "${{ inputs.language }}" },
                "once": { "key": "Idempotency-Key" } } } ] }
        """

    /// An empty state folder, as on the next machine of a fleet, and the same folder of files with others in it: the service
    /// gave the results of the first ones.
    @Test("is another one for another content, and the same one for the same, wherever it lies")
    func contents() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let file = try workplace.write("keyed.json", Self.document)
            var number = 0
            func keys(of file: String, _ arguments: [String]) async throws -> [String] {
                number += 1
                let before = server.requests.count
                let state = "\(workplace.folder)/state\(number)"
                let run = try await workplace.program.run(
                    ["run", file] + arguments,
                    environment: workplace.environment(["API_URL": server.url, "PIPELINE_STATE_DIR": state]),
                    folder: workplace.folder)
                #expect(run.cause == .exited(0), "\(run)")
                return server.requests[before...].compactMap { $0.header("Idempotency-Key") }.sorted()
            }
            try workplace.write("a.wav", "monday")
            try FileManager.default.createDirectory(
                atPath: workplace.folder + "/other", withIntermediateDirectories: true)
            try workplace.write("other/a.wav", "monday")
            try workplace.write("b.wav", "monday")
            for how in [["-i"], ["--each"]] {
                let key = how == ["-i"] ? ["--key", "nightly"] : ["--batch", "nightly"]
                let first = try await keys(of: file, key + how + ["audio=a.wav"])
                #expect(first.count == 1)
                #expect(try await keys(of: file, key + how + ["audio=other/a.wav"]) == first)
                #expect(try await keys(of: file, key + how + ["audio=b.wav"]) != first)
                #expect(try await keys(of: file, key + how + ["audio=a.wav", "-i", "language=de"]) != first)
                try workplace.write("a.wav", "sunday")
                #expect(try await keys(of: file, key + how + ["audio=a.wav"]) != first)
                try workplace.write("a.wav", "monday")
                #expect(try await keys(of: file, key + how + ["audio=a.wav"]) == first)
            }
        }
    }
}
