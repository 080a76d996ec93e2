import PipelineTestKit
import Testing

/// "null" was written as the result, with exit 0 and not a word: the push had been refused, or there was no address for it.
@Suite("A capture that only a push brings")
struct UnpushedCaptureTests {
    @Test("is said to be null where the poll found the end before any push had come")
    func poll() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                .json(request.method == "POST" ? #"{"id": "j"}"# : #"{"state": "done"}"#)
            }
            defer { server.stop() }
            try workplace.write(
                "job.json",
                """
                { "pipeline": 1, "name": "job", "services": { "api": { "url": "\(server.url)" } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "api",
                      "submit": { "POST": "/jobs", "json": { "to": "${{ self.callbackURL }}" }, "capture": { "id": "$.id" } },
                      "callback": { "verify": { "token": "${{ secrets.T }}" }, "capture": { "text": "$.text", "more": "$.more" } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "every": "20ms", "status": "$.state", "succeeded": ["done"] } },
                    { "id": "keep", "kind": "write", "json": "${{ stages.model.text }}", "to": "text.json" } ] }
                """)
            let end = try await workplace.run("run", "job.json", environment: ["PIPELINE_SECRET_T": "sesame"])
            #expect(end.cause == .exited(0), "\(end)")
            #expect(
                end.errors.contains("no push had come when the poll found the end, so that 'text' is null"), "\(end)")
        }
    }
}
