import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// The built program killed (SIGKILL) at any request of a batch, again and again: `PIPELINE_KILLS` says how often.
@Suite("A batch that is killed at any request")
struct KilledBatchTests {
    private final class Service: Sendable {
        struct State {
            var requests = 0
            var killAt = Int.max
            var process: Int32?
            /// The keys that each item's submits came with.
            var keys: [String: Set<String>] = [:]
        }
        let state = Mutex(State())

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            state.withLock { state in
                state.requests += 1
                if state.requests >= state.killAt, let process = state.process {
                    kill(process, SIGKILL)
                    state.killAt = .max
                }
                guard request.method == "POST" else { return .json(#"{"state": "done"}"#) }
                let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
                let key = request.header("Idempotency-Key") ?? ""
                state.keys[name, default: []].insert(key)
                return .json(#"{"id": "\#(key)"}"#)
            }
        }
    }

    @Test("loses no item, begins none twice, and counts them right", .timeLimit(.minutes(15)))
    func killed() async throws {
        let kills = ProcessInfo.processInfo.environment["PIPELINE_KILLS"].flatMap(Int.init) ?? 12
        let items = ProcessInfo.processInfo.environment["PIPELINE_KILLS"] == nil ? 60 : 300
        try await withWorkplace { workplace in
            let service = Service()
            let server = try LoopbackServer { service.answer($0) }
            defer { server.stop() }
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "retry": { "attempts": 1000 }, "inputs": { "name": { "type": "string" } },
                  "services": { "api": { "url": "${{ env.API_URL }}", "limits": { "computations": 40 } } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "api", "cost": "0.5",
                      "submit": { "POST": "/jobs", "json": { "name": "${{ inputs.name }}" },
                                  "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "every": "20ms", "status": "$.state",
                                "succeeded": ["done"] } } ] }
                """)
            try workplace.write("rows.csv", "name\n" + (1...items).map { "talk-\($0)\n" }.joined())
            var random = Lcg(seed: 7)
            for number in 0...kills {
                let isLast = number == kills
                service.state.withLock { state in
                    state.process = nil
                    // Spread over the whole of it.
                    let step = 1 + Int(random.next() % UInt64(max(1, 4 * items / max(1, kills))))
                    state.killAt = isLast ? .max : state.requests + step
                }
                let arguments = ["run", "model.json", "--each", "rows.csv", "--batch", "june"]
                let program = try workplace.program.start(
                    arguments, environment: workplace.environment(["API_URL": server.url]), folder: workplace.folder,
                    limit: .seconds(120))
                service.state.withLock { $0.process = program.processID }
                let end = await program.end
                if isLast { #expect(end.cause == .exited(0), "\(end)") }
            }
            let keys = service.state.withLock(\.keys)
            #expect(
                keys.count == items && keys.values.allSatisfy { $0.count == 1 }, "an item was begun twice, or never")
            let shown = try await workplace.show("june")
            #expect(shown["counts"]?["succeeded"]?.number?.int == items, "\(shown.text)")
            #expect(shown["cost"]?.number?.double == Double(items) / 2, "\(shown.text)")
            let doctor = try await workplace.run("doctor")
            #expect(doctor.cause == .exited(0) && doctor.output.contains("journal   whole"), "\(doctor)")
        }
    }

    /// Numbers that a seed fixes (Knuth, MMIX).
    private struct Lcg {
        var state: UInt64
        init(seed: UInt64) { state = seed }
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
