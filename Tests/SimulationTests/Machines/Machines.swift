import PipelineCore
import PipelineEngine
import PipelineTestKit
import Synchronization

/// Two or three machines that work on one database under one seed. Each runs a worker that takes up the job when nobody has
/// it; workers are killed and come back, are stopped and go on, and their clocks differ.
struct Machines {
    let world: World
    let database: ModelDatabase
    private(set) var violations: [String] = []
    private let cast: Cast

    /// The machines' workers as they are now.
    private final class Cast: Sendable {
        private let tasks = Mutex<[LaneTask]>([])
        private let coming = Mutex(0)
        func add(_ task: LaneTask) { tasks.withLock { $0.append(task) } }
        func expect() { coming.withLock { $0 += 1 } }
        func arrive() { coming.withLock { $0 -= 1 } }
        var isOver: Bool { coming.withLock { $0 } == 0 && tasks.withLock { $0.allSatisfy(\.isEnded) } }
    }

    init(world: World, isBlind: Bool = false) {
        self.world = world
        database = ModelDatabase(world.recorder, world.memory, world.simulation, isBlind: isBlind)
        cast = Cast()
    }

    private var random: SeededRandomness { world.simulation.randomness }

    mutating func run(stepLimit: Int = 400_000) {
        let world = world
        let database = database
        world.network.weather = NetworkWeather(
            faultChance: random.element(of: [0, 0.1, 0.3]), faults: world.scenario.faults)
        database.lostChance = random.element(of: [0, 0.02, 0.1, 0.3])
        world.simulation.schedule(after: .seconds(4 * 3600)) {
            world.network.weather = .calm
            database.lostChance = 0
        }
        if random.chance(0.3) {
            let start = random.milliseconds(0...60_000)
            world.simulation.schedule(after: start) { database.isAway = true }
            world.simulation.schedule(after: start + random.milliseconds(500...120_000)) { database.isAway = false }
        }
        for machine in 1...random.number(in: 2...3) {
            let skew = Duration.seconds(random.number(in: -3600...3600))
            Self.start(machine, life: 1, of: random.number(in: 1...3), skew, world, database, cast)
        }
        let cast = cast
        let ending = world.simulation.run(stepLimit: stepLimit) { cast.isOver }
        if ending != .done { violations.append("the machines are \(ending)") }
        world.end()
        var schedule = Schedule(world: world)
        schedule.check(as: .ended(.ended(.succeeded)))
        violations += schedule.violations
    }

    /// Starts a machine's worker. All lives but the last are killed or stopped at some point.
    private static func start(
        _ machine: Int, life: Int, of lives: Int, _ skew: Duration, _ world: World, _ database: ModelDatabase,
        _ cast: Cast
    ) {
        let (simulation, random) = (world.simulation, world.simulation.randomness)
        let process = SimulatedProcess(simulation, name: "m\(machine).\(life)")
        process.clock.shift(by: skew)
        let journal = MachineJournal(database, of: process)
        let task = process.lane.start { await world.work(process, over: journal) }
        let renewals = process.lane.start { await journal.renew() }
        cast.add(task)
        if life < lives {
            if random.chance(0.35) {
                let stop = random.milliseconds(1_000...90_000)
                process.after(passes: random.number(in: 1...80)) {
                    process.lane.freeze()
                    simulation.note("\(process.owner.text) is stopped")
                    simulation.schedule(after: stop) {
                        simulation.note("\(process.owner.text) goes on")
                        process.lane.thaw()
                    }
                }
            } else {
                process.after(passes: random.number(in: 1...80)) { process.kill() }
            }
        }
        process.onDeath {
            simulation.note("\(process.owner.text) was killed")
            world.noteKilled(process)
            task.cancel()
            renewals.cancel()
            cast.expect()
            simulation.schedule(after: random.milliseconds(100...60_000)) {
                start(machine, life: life + 1, of: lives, skew, world, database, cast)
                cast.arrive()
            }
        }
    }
}

extension World {
    /// What a worker does: it begins the job if nobody has, takes it up when nobody has it, and looks again from time to
    /// time until it has ended.
    func work(_ process: SimulatedProcess, over journal: MachineJournal) async {
        // A worker reads a document once, however often it has the job.
        let laws = TurnLaws()
        guard let plan = try? plan(for: process, laws.call) else { return }
        var turns = 0
        while !process.isDead {
            if let job = recorder.job(record.id), job.ended != nil, !isUntold { break }
            turns += 1
            let law = PublicationLaw(recorder, of: process.owner)
            law.note(plan)
            laws.begin(law)
            if let end = await turn(process, plan, law, over: journal, isFirst: turns == 1) {
                simulation.note("\(process.owner.text) had the job: \(end)")
            }
            let pause = simulation.randomness.milliseconds(4_000...6_000)
            guard (try? await process.clock.sleep(until: process.clock.now + pause)) != nil else { break }
        }
        // Nothing happens at a death that comes later.
        if !process.isDead { process.exit() }
    }

    private func turn(
        _ process: SimulatedProcess, _ plan: Plan, _ law: PublicationLaw, over journal: MachineJournal, isFirst: Bool
    ) async -> JobEnd? {
        defer { note(law) }
        do {
            let engine = engine(of: process, over: journal) { [self] in observe($0, by: process, law) }
            let handle: Engine.JobHandle
            if let job = recorder.job(record.id) {
                handle =
                    job.ended != nil
                    ? try await engine.deliverNotifications(of: record.id, plan: plan)
                    : try await engine.resume(record.id, plan: plan, mode: .background)
            } else {
                handle = try await engine.start(record, plan: plan, mode: .background)
            }
            process.onDeath { handle.suspend(.interrupted) }
            let end = try await handle.run()
            // Of a job that it had before, and lost, it had committed what it could not tell of any more.
            if !process.isDead, isFirst, end != .lost { law.end() }
            return end
        } catch {
            // Another has it, or was first.
            return nil
        }
    }
}

/// The law of a worker's turn: its stages, of one plan for all turns, are called under it.
private final class TurnLaws: Sendable {
    private let current = Mutex<PublicationLaw?>(nil)

    func begin(_ law: PublicationLaw) { current.withLock { $0 = law } }

    @Sendable func call(_ facts: StageFacts) { current.withLock { $0 }?.call(facts) }
}
