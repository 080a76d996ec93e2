import Foundation
import JSONPath
import PipelineTestKit
import SeededNumbers
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
}
