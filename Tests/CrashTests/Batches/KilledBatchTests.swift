import Foundation
import JSONPath
import PipelineTestKit
import SeededNumbers
import Synchronization
import Testing

/// The built program killed (SIGKILL) at any request of a batch, again and again: `PIPELINE_KILLS` says how often.
@Suite("A batch that is killed at any request")
struct KilledBatchTests {
    @Test("loses no item, begins none twice, and counts them right", .timeLimit(.minutes(15)))
    func killed() async throws {
        let kills = KillingService.kills ?? 12
        let items = KillingService.kills == nil ? 60 : 300
        try await withWorkplace { workplace in
            let service = try KillingService()
            defer { service.server.stop() }
            try workplace.write("model.json", KillingService.document)
            try workplace.write("rows.csv", KillingService.rows(items))
            var random = SplitMix64(seed: 7)
            for number in 0...kills {
                let isLast = number == kills
                // Spread over the whole of it.
                let step = 1 + random.below(4 * items / max(1, kills))
                service.kill(nil, at: isLast ? nil : step)
                let arguments = ["run", "model.json", "--each", "rows.csv", "--batch", "june"]
                let program = try workplace.program.start(
                    arguments, environment: workplace.environment(["API_URL": service.server.url]),
                    folder: workplace.folder,
                    limit: .seconds(120))
                service.aim(at: program.processID)
                let end = await program.end
                if isLast { #expect(end.cause == .exited(0), "\(end)") }
            }
            let keys = service.keys
            #expect(
                keys.count == items && keys.values.allSatisfy { $0.count == 1 }, "an item was begun twice, or never")
            let shown = try await workplace.show("june")
            #expect(shown["counts"]?["succeeded"]?.number?.int == items, "\(shown.text)")
            #expect(shown["cost"]?.number?.double == Double(items) / 2, "\(shown.text)")
            let doctor = try await workplace.run("doctor")
            #expect(doctor.cause == .exited(0) && doctor.output.contains("journal   whole"), "\(doctor)")
        }
    }

    private final class Orders: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// Twelve unknown alike stopped the rest, as if the service had lost them.
    @Test(
        "goes on past the submits that its process left without an answer, and stops at those that its service then loses",
        arguments: [false, true])
    func cutOff(losesMore: Bool) async throws {
        try await withWorkplace { workplace in
            let (orders, areUnderWay) = (Orders(), Gate())
            let server = try LoopbackServer { request in
                guard request.method == "POST" else { return .json(#"{"state": "done"}"#) }
                let number = orders.next()
                if number == 12 { areUnderWay.open() }
                if number > 12 { return losesMore ? ScriptedAnswer([.readBody, .reset]) : .json(#"{"id": "j"}"#) }
                return ScriptedAnswer([.readBody, .stall])
            }
            defer { server.stop() }
            try workplace.write("rows.csv", "file\n" + (1...30).map { "talk-\($0)\n" }.joined())
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "string" } },
                  "batch": { "key": "${{ inputs.file }}", "atOnce": 12 },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "api",
                      "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } } ] }
                """)
            let environment = ["API_URL": server.url]
            let first = try workplace.start(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            await areUnderWay.wait()
            first.signal(SIGKILL)
            _ = await first.end
            if losesMore {
                try workplace.write("rows.csv", "file\n" + (1...60).map { "talk-\($0)\n" }.joined())
            }
            let end = try await workplace.run("resume", "june", environment: environment)
            if losesMore {
                // Those that were at work with the tenth go out too.
                #expect(end.cause == .exited(75) && 22..<34 ~= orders.value, "\(orders.value) \(end)")
                return
            }
            #expect(end.cause == .exited(3), "\(end)")
            let counts = try await workplace.show("june")["counts"]
            #expect(counts?["unknown"] == 12 && counts?["succeeded"] == 18, "\(counts?.text ?? "")")
            #expect(orders.value == 30)
        }
    }
}
