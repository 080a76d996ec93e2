import PipelineTestKit
import Testing

/// The proof of the proof: engines that are wrong on purpose.
@Suite struct FlawTests {
    @Test("an engine that is wrong is caught within 300 schedules", arguments: EngineFlaw.all)
    func isCaught(flaw: EngineFlaw) {
        let catching = (1...300).first { seed in
            var schedule = Schedule(world: World(flaw.scenario, seed: UInt64(seed), flaw: flaw))
            schedule.run()
            return schedule.violations.contains { $0.contains(flaw.symptom) }
        }
        #expect(catching != nil, "no schedule noticed that it \(flaw.name)")
    }

    @Test("a world is gone when its schedule has ended")
    func leavesNothing() {
        for seed: UInt64 in 1...40 {
            weak var world: World?
            weak var simulation: Simulation?
            do {
                var schedule = Schedule(world: World(.computeFan, seed: seed))
                (world, simulation) = (schedule.world, schedule.world.simulation)
                schedule.run()
            }
            #expect(world == nil && simulation == nil, "seed \(seed) leaves its world behind")
        }
    }

    @Test("a seed gives the same run again")
    func isReproducible() {
        for seed: UInt64 in 1...10 {
            let runs = (0..<2).map { _ in
                var schedule = Schedule(world: World(.fan, seed: seed, keepsTrace: true))
                schedule.run()
                return schedule.world.simulation
            }
            #expect(runs[0].digest == runs[1].digest, "seed \(seed)")
            let difference = zip(runs[0].trace, runs[1].trace).first { $0 != $1 }
            #expect(difference == nil, "seed \(seed)")
        }
    }
}
