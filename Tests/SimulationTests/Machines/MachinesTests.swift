import PipelineCore
import PipelineTestKit
import Testing

/// Several engines over one database in virtual time under seeds; `LONG_SEEDS=20000` runs more, `SEED=17` one, with its trace.
@Suite struct MachinesTests {
    static let scenarios = Scenario.all.filter {
        $0.mayFreeze && !$0.mayBeUnknown && !$0.mayFail && !$0.isCalledBack && $0.files.isEmpty
    }

    @Test("two and three engines over one database keep every promise", arguments: scenarios)
    func promises(scenario: Scenario) {
        let seeds = Seeds.chosen(count: Seeds.countOfLong / Self.scenarios.count + 1)
        var reconciled = 0
        for seed in seeds {
            var machines = Machines(world: World(scenario, seed: seed))
            machines.run()
            reconciled += machines.database.reconciled
            if machines.violations.isEmpty, Seeds.one == nil { continue }
            var again = Machines(world: World(scenario, seed: seed, keepsTrace: true))
            again.run()
            let report = """
                seed \(seed) of '\(scenario.name)' on machines, digest \(again.world.simulation.digest):
                \(again.violations.joined(separator: "\n"))
                \(again.world.simulation.trace.joined(separator: "\n"))
                """
            if machines.violations.isEmpty { print(report) } else { Issue.record("\(report)") }
            return
        }
        #expect(reconciled > 0 || seeds.count < 10, "answers to commits are lost, and tokens reconcile them")
    }

    @Test("a machine that sends a group again without a look at its token is found")
    func blind() {
        let found = (1...UInt64(60)).contains { seed in
            var machines = Machines(world: World(.oneWithKey, seed: seed), isBlind: true)
            machines.run(stepLimit: 20_000)
            return !machines.violations.isEmpty
        }
        #expect(found)
    }
}
