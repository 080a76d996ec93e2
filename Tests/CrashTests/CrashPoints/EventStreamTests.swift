import PipelineTestKit
import Testing

@Suite("A stream of events survives a kill")
struct EventStreamTests {
    private static let document = """
        { "pipeline": 1, "name": "stream", "retry": { "delay": "20ms" },
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "server",
              "submit": { "POST": "/jobs", "json": { "a": 1 }, "capture": { "id": "$.id" },
                          "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/events/${{ self.id }}",
                        "events": { "succeeded": ["done"], "failed": ["error"], "progress": ["step"] },
                        "progress": "$.percent", "capture": { "value": "$.value" } } },
            { "id": "result", "kind": "write", "to": "result.txt", "text": "${{ stages.model.value }}" } ] }
        """

    /// Events up to the third are followed by silence the first time; the end comes to who comes again.
    private static func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        if request.method == "POST" { return .json(#"{"id": "7"}"#, status: 201) }
        let head = ScriptedAnswer.Step.head(200, [("Content-Type", "text/event-stream")])
        let steps = (1...3).map { "id: \($0)\nevent: step\ndata: {\"percent\": \($0 * 10)}\n\n" }.joined()
        let end = "event: done\ndata: {\"value\": \"forty-two\"}\n\n"
        // The submit was the first.
        let isFirst = request.number == 2
        return ScriptedAnswer([.readBody, head, .bytes(Array((steps + (isFirst ? "" : end)).utf8)), .stall])
    }

    @Test("killed in the middle of a stream, or at its end, a job is finished by resume", arguments: [1, 2])
    func killed(pass: Int) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { Self.answer($0) }
            defer { server.stop() }
            let file = try workplace.write("stream.json", Self.document)
            var environment = ["SERVER_URL": server.url]
            environment["PIPELINE_CRASH_AT"] = "poll.answered:1"
            let killed = try await workplace.run(
                "run", file, "--output", workplace.output, environment: environment)
            #expect(killed.cause == .killed(9), "\(killed)")
            if pass == 2 {
                // The second life dies when it has read the end, and before that is kept.
                environment["PIPELINE_CRASH_AT"] = "poll.answered:2"
                let again = try await workplace.run("resume", environment: environment)
                #expect([.killed(9), .exited(0)].contains(again.cause), "\(again)")
            }
            environment["PIPELINE_CRASH_AT"] = nil
            let resumed = try await workplace.run("resume", environment: environment)
            #expect(pass == 2 || resumed.cause == .exited(0), "\(resumed)")
            #expect(workplace.bytes("\(workplace.output)/result.txt") == Array("forty-two".utf8))
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            try await workplace.checkEvents()
        }
    }
}
