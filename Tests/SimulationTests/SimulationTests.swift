import PipelineCore
import PipelineTestKit
import Testing

/// Whole jobs in virtual time under seeds; `SEEDS=20000` runs more, `SEED=17` one, with its trace.
@Suite struct SimulationTests {
    @Test("every schedule keeps every promise", arguments: Scenario.all)
    func promises(scenario: Scenario) {
        let seeds = Seeds.chosen(count: Seeds.count / Scenario.all.count + 1)
        var (steps, longest) = (0, (seed: UInt64(0), steps: 0))
        var last = (seed: UInt64(0), length: Duration.zero)
        defer {
            if seeds.count > 100 {
                print(
                    "\(scenario.name): \(seeds.count) schedules, \(steps) steps, most of seed \(longest), last \(last)")
            }
        }
        for seed in seeds {
            var schedule = Schedule(world: World(scenario, seed: seed))
            schedule.run()
            steps += schedule.world.simulation.steps
            if schedule.world.simulation.steps > longest.steps { longest = (seed, schedule.world.simulation.steps) }
            if schedule.length > last.length { last = (seed, schedule.length) }
            if schedule.violations.isEmpty, Seeds.one == nil { continue }
            let report = report(on: scenario, seed)
            if schedule.violations.isEmpty { print(report) } else { Issue.record("\(report)") }
            return
        }
    }

    @Test("somebody is told of everything once, and again only where a crash hits between a sending and its commit")
    func notifications() {
        var (jobs, sent, again) = (0, 0, 0)
        for seed in Seeds.chosen(count: Seeds.count / 2) {
            var schedule = Schedule(world: World(.told, seed: seed))
            schedule.run()
            let deliveries = schedule.world.sinks.deliveries
            (jobs, sent) = (jobs + 1, sent + deliveries.count)
            again += deliveries.count - Set(deliveries.map(\.notification.id)).count
            if schedule.violations.isEmpty, Seeds.one == nil { continue }
            let report = report(on: .told, seed)
            if schedule.violations.isEmpty { print(report) } else { Issue.record("\(report)") }
            return
        }
        print("notifications: \(jobs) jobs, \(sent) notifications, \(again) of them again after a crash")
        #expect(sent > jobs)
    }

    @Test("transfers with real files keep every promise too")
    func transfers() {
        for seed in Seeds.chosen(count: min(500, Seeds.count / 10)) {
            var schedule = Schedule(world: World(.transfers, seed: seed))
            schedule.run()
            if schedule.violations.isEmpty, Seeds.one == nil { continue }
            let report = report(on: .transfers, seed)
            if schedule.violations.isEmpty { print(report) } else { Issue.record("\(report)") }
            return
        }
    }

    /// Runs the seed again with a trace.
    private func report(on scenario: Scenario, _ seed: UInt64) -> String {
        var schedule = Schedule(world: World(scenario, seed: seed, keepsTrace: true))
        schedule.run()
        return """
            seed \(seed) of '\(scenario.name)', digest \(schedule.world.simulation.digest):
            \(schedule.violations.joined(separator: "\n"))
            \(schedule.world.simulation.trace.joined(separator: "\n"))
            """
    }
}
