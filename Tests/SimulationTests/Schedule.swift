import PipelineCore
import PipelineEngine
import PipelineTestKit

/// One seed's run of a scenario from the first start to its end, with all that was wrong with it.
struct Schedule {
    let world: World
    private var random: SeededRandomness { world.simulation.randomness }
    private(set) var violations: [String] = []
    private(set) var lives = 0
    private(set) var end: World.LifeEnd?
    /// True if a person asked for the job to be cancelled.
    private(set) var isCancelled = false

    /// True if a person will want the ended job done again.
    private var isRepeated = false

    /// How long it took in virtual time.
    private(set) var length = Duration.zero

    /// More lives than any schedule needs once nothing goes wrong any more.
    private static let mostLives = 40

    init(world: World) { self.world = world }

    /// Runs the schedule to its end and checks every invariant.
    mutating func run() {
        arrangeTrouble()
        arrangePerson()
        let troubledLives = random.number(in: 0...5)
        while lives < Self.mostLives {
            lives += 1
            if lives > troubledLives { world.network.weather = .calm }
            guard runLife(isTroubled: lives <= troubledLives) else { break }
        }
        length = world.simulation.now - world.record.started
        world.end()
        check()
        world.folder?.remove()
    }

    /// Checks every invariant of a world that something else ran, and that was to end so.
    mutating func check(as end: World.LifeEnd) {
        self.end = end
        check()
    }

    /// Bad weather for some hours, an outage, a service that starts again.
    private func arrangeTrouble() {
        let world = world
        world.network.weather = NetworkWeather(
            faultChance: random.element(of: [0, 0.1, 0.3, 0.6]), faults: world.scenario.faults)
        world.simulation.schedule(after: .seconds(6 * 3600)) { world.network.weather = .calm }
        if random.chance(0.1) {
            world.simulation.schedule(after: random.milliseconds(0...120_000)) { world.network.isDown = true }
            let end = Duration.seconds(random.number(in: 600...28_800))
            world.simulation.schedule(after: end) { world.network.isDown = false }
        }
        if random.chance(0.2) {
            world.simulation.schedule(after: random.milliseconds(1000...120_000)) { world.server.restart() }
        }
    }

    /// Someone who cancels or pauses, or forgets a secret for some time.
    private mutating func arrangePerson() {
        let world = world
        let moment = random.milliseconds(0...90_000)
        switch random.number(in: 0...19) {
        case 0, 1:
            isCancelled = true
            world.simulation.schedule(after: moment) { world.ask(.cancel) }
        case 2, 3: world.simulation.schedule(after: moment) { world.ask(.pause) }
        case 5, 6:
            // A night ahead, or a day back: what is promised does not depend on the time of day.
            let jump = Duration.seconds(random.number(in: -86_400...43_200))
            world.simulation.schedule(after: moment) { world.setClock(by: jump) }
        case 7, 8:
            for number in 0...random.number(in: 0...4) {
                let time = moment + random.milliseconds(0...60_000)
                // Some come twice, and most come too early.
                world.simulation.schedule(after: time) { world.push("push-\(number / 2)") }
            }
        case 9, 10: isRepeated = true
        case 4:
            world.simulation.schedule(after: moment) { world.secrets.set("TOKEN", nil) }
            world.simulation.schedule(after: moment + .seconds(3600)) { world.secrets.set("TOKEN", World.token) }
        default: isRepeated = !world.scenario.restarts.isEmpty
        }
    }

    /// One life of the program; false when the job needs no other.
    private mutating func runLife(isTroubled: Bool) -> Bool {
        let process = SimulatedProcess(world.simulation, name: "p\(lives)")
        let result = LifeResult()
        let isFrozen = isTroubled && world.scenario.mayFreeze && random.chance(0.2)
        if isFrozen {
            process.after(passes: random.number(in: 1...60)) { process.lane.freeze() }
        } else if isTroubled, random.chance(0.8) {
            process.after(passes: random.number(in: 1...60)) { process.kill() }
        }
        let task = world.live(process, result: result)
        return isFrozen ? waitForFrozen(process, task, result) : wait(for: task, of: process, result)
    }

    mutating func note(_ violation: String) { violations.append(violation) }

    mutating func wait(for task: LaneTask, of process: SimulatedProcess, _ result: LifeResult) -> Bool {
        let ending = world.simulation.run { task.isEnded }
        if ending != .done { violations.append("\(process.owner.text) is \(ending)") }
        world.memory.lose(process.owner)
        guard ending == .done, let value = result.value else { return false }
        if process.isDead { return true }
        process.exit()
        end = value
        return goesOn(after: value)
    }

    /// Lets time pass with no process of ours.
    private func pass(_ duration: Duration) {
        let isOver = Latch()
        world.simulation.schedule(after: duration) { isOver.close() }
        _ = world.simulation.run { isOver.isClosed }
    }

    private mutating func goesOn(after end: World.LifeEnd) -> Bool {
        switch end {
        case .ended(.ended(.succeeded)) where isRepeated:
            isRepeated = false
            let stages = world.scenario.restarts
            world.restart(from: random.element(of: stages.isEmpty ? world.scenario.outputs.keys.sorted() : stages))
            return true
        case .ended(.ended) where world.isUntold:
            // Longer than the longest pause between two tries.
            pass(.seconds(900))
            return true
        case .ended(.unknown) where world.scenario.isResolvable && random.chance(0.7):
            let person = SimulatedProcess(world.simulation, name: "person\(lives)")
            let task = world.resolve(by: person)
            _ = world.simulation.run { task.isEnded }
            world.memory.lose(person.owner)
            person.exit()
            return true
        case .ended(.suspended):
            pass(.seconds(600))
            return true
        case .ended(.lost):
            violations.append("the only owner lost the job")
            return false
        case .ended: return false
        case .failed(let failure):
            violations.append("the engine gave up: \(failure)")
            return false
        case .notPlanned(let text):
            violations.append("no plan: \(text)")
            return false
        }
    }
}
