import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineEngine

@Suite("Bodies of requests that are no transfers")
struct PassingBytesTests {
    @Test("are counted over all tries, and are no progress that would forgive failed ones")
    func counted() throws {
        let calls = Mutexed(0)
        let kind = StageKind.scripted("chatty") { _, _, context async throws(StageFailure) in
            context.count(BytesMoved(sent: 5, received: 700))
            context.count(BytesMoved(sent: 1))
            calls.change { $0 += 1 }
            throw .failed(AttemptFailure(StepFailure("busy"), kind: .answered))
        }
        let bench = EngineBench(#"{ "id": "a", "kind": "chatty", "retry": { "attempts": 3 } }"#, kinds: [kind])
        #expect(bench.end(of: bench.live()) == .success(.ended(.failed)))
        #expect(calls.value == 3)
        let step = try #require(bench.job()?.steps[StepKey(stage: "a")])
        #expect(step.bytesSent == 18 && step.bytesReceived == 2100)
    }
}
