import PipelineCore
import PipelineTestKit

extension Schedule {
    /// A life that is stopped as by SIGSTOP for longer than its lease: another process takes the job, and the first
    /// goes on later and must find that it has lost it.
    mutating func waitForFrozen(_ process: SimulatedProcess, _ task: LaneTask, _ result: LifeResult) -> Bool {
        let simulation = world.simulation
        var ending = simulation.run { task.isEnded || process.lane.isFrozen }
        guard process.lane.isFrozen, ending == .done else { return wait(for: task, of: process, result) }
        simulation.note("\(process.owner.text) is stopped")
        guard world.recorder.job(world.record.id) != nil else {
            process.lane.thaw()
            return wait(for: task, of: process, result)
        }
        world.memory.expire(process.owner)
        let heir = SimulatedProcess(simulation, name: "\(process.owner.text)-heir")
        let heirResult = LifeResult()
        let heirTask = world.live(heir, result: heirResult)
        let thaw = simulation.now + simulation.randomness.milliseconds(0...60_000)
        simulation.schedule(at: thaw) {
            simulation.note("\(process.owner.text) goes on")
            process.lane.thaw()
        }
        ending = simulation.run { task.isEnded }
        if ending != .done { note("\(process.owner.text), stopped and continued, is \(ending)") }
        process.exit()
        return wait(for: heirTask, of: heir, heirResult)
    }
}
