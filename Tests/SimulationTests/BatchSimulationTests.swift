import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineHTTP
import PipelineKit
import PipelineStages
import PipelineTestKit
import Synchronization
import Testing

/// Whole batches in virtual time: `PIPELINE_BATCHES=100,1000` says how many seeds and items, `SEED=17` one seed.
@Suite("A batch in virtual time")
struct BatchSimulationTests {
    private static let size: (seeds: Int, items: Int) = {
        let parts = (ProcessInfo.processInfo.environment["PIPELINE_BATCHES"] ?? "").split(separator: ",").compactMap {
            Int($0)
        }
        return parts.count == 2 ? (parts[0], parts[1]) : (5, 120)
    }()

    @Test(
        "loses no item, begins none twice and counts none wrong, over crashes, closed services, lists that lie and clocks"
    )
    func promises() {
        var (lives, lists, refusals) = (0, 0, 0)
        for seed in Seeds.chosen(count: Self.size.seeds) {
            let world = BatchWorld(seed: seed, items: Self.size.items)
            let violations = world.run()
            (lives, lists) = (lives + world.lives.withLock { $0 }, lists + world.service.lists)
            refusals += world.service.refusals
            if violations.isEmpty { continue }
            Issue.record("seed \(seed): \(violations.prefix(20).joined(separator: "\n"))")
            return
        }
        print("batches: \(lives) lives, \(lists) lists, \(refusals) requests refused by a closed service")
        #expect(lists > 0 && refusals > 0)
    }
}

/// One batch from its beginning to its end, over as many lives of the program as that takes.
private final class BatchWorld: Sendable {
    private static let document = """
        { "pipeline": 1, "name": "many", "retry": { "attempts": 10000, "delay": "1s", "max": "60s" },
          "inputs": { "n": { "type": "number" } },
          "services": { "api": { "url": "http://many.example", "limits": { "computations": 40 } } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api", "cost": "0.5",
              "submit": { "POST": "/jobs", "json": { "n": "${{ inputs.n }}" },
                          "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "15s", "status": "$.state", "succeeded": ["done"],
                        "failed": ["error"],
                        "list": { "GET": "/jobs", "query": { "ids": "${{ join(ids, ',') }}" }, "items": "$.data[*]",
                                  "id": "$.id", "atMost": 30 } } } ] }
        """

    let simulation: Simulation
    let service: ManyService
    let lives = Mutex(0)
    private let network: SimulatedNetwork
    private let memory = MemoryJournal()
    private let count: Int
    private let record: JobRecord
    private let ids = Mutex<UInt64>(0)
    private let clockShift = Mutex(Duration.zero)
    private let living = Mutex<SimulatedProcess?>(nil)
    /// After how many passes the next life is asked to stop, as by Ctrl-C.
    private let interruption = Mutex<Int?>(nil)
    /// The most items that were running at a time.
    private let mostRunning = Mutex(0)
    private static let atOnce = 64

    init(seed: UInt64, items: Int) {
        simulation = Simulation(seed: seed)
        network = SimulatedNetwork(simulation)
        service = ManyService(simulation)
        count = items
        record = JobRecord(
            id: JobID(at: simulation.now, random: (9, seed)), pipeline: "many", key: "june", started: simulation.now,
            source: Self.document, sourceName: "many.json", digest: "many", inputs: [:], environment: [:],
            folders: JobFolders(document: "/", output: "/"), overwrites: false)
    }

    private typealias End = Result<BatchRunner.End, JournalFailure>

    /// What was wrong.
    func run() -> [String] {
        let random = simulation.randomness
        network.weather = NetworkWeather(faultChance: random.element(of: [0, 0.05, 0.2]))
        for _ in 0..<random.number(in: 1...4) {
            let length = Duration.seconds(random.number(in: 20...300))
            simulation.schedule(after: random.milliseconds(0...600_000)) { [service] in service.close(for: length) }
        }
        if random.chance(0.4) {
            let jump = Duration.seconds(random.number(in: -7200...7200))
            simulation.schedule(after: random.milliseconds(0...600_000)) { [self] in
                clockShift.withLock { $0 += jump }
                living.withLock { $0 }?.clock.shift(by: jump)
            }
        }
        let troubled = random.number(in: 0...12)
        var violations: [String] = []
        while true {
            let life = lives.withLock { lives in
                lives += 1
                return lives
            }
            guard life < 100 else { return violations + ["it does not come to an end"] }
            if life > troubled { network.weather = .calm }
            let process = SimulatedProcess(simulation, name: "p\(life)")
            process.clock.shift(by: clockShift.withLock { $0 })
            living.withLock { $0 = process }
            interruption.withLock { $0 = nil }
            if life <= troubled {
                let passes = random.number(in: 1...(count * 30))
                if random.chance(0.3) {
                    interruption.withLock { $0 = passes }
                } else {
                    process.after(passes: passes) { process.kill() }
                }
            }
            let holder = EndHolder()
            let task = process.lane.start { [self] in holder.set(await live(process)) }
            let ending = simulation.run(stepLimit: 1_000_000 + count * 50_000) { task.isEnded }
            if ending != .done { return violations + ["life \(life) is \(ending): \(itemsUnderWay())"] }
            memory.lose(process.owner)
            if simulation.strays > 0 { violations.append("\(simulation.strays) calls came from another thread") }
            violations += wrongCounts()
            if !violations.isEmpty { return violations }
            if process.isDead { continue }
            process.exit()
            switch holder.end {
            case .success(.ended)?:
                living.withLock { $0 = nil }
                return check()
            case .success(.suspended)?, .failure?: continue
            case let other: return ["life \(life) ended with \(String(describing: other))"]
            }
        }
    }

    private func live(_ process: SimulatedProcess) async -> End {
        let journal = ProcessJournal(memory, of: process, slowness: 0.05)
        do throws(JournalFailure) {
            let lease = try await acquire(journal, process)
            guard let job = memory.image.snapshot(of: record.id) else { throw .noSuchJob(record.id) }
            let plan: Plan
            do throws(DefinitionError) { plan = try self.plan(of: process) } catch { throw .other("\(error)") }
            var ports = EnginePorts(
                journal: journal, clock: process.clock, randomness: simulation.randomness,
                secrets: SimulatedSecrets([:]), files: NoFiles(), crashProbe: process, owner: process.owner,
                keyedHash: { "\($0.count)" }, observe: { _ in })
            ports.services = JournaledServices(journal: journal, clock: process.clock)
            var options = BatchRunner.Options()
            options.observe = { [self] _ in
                let running = memory.image.snapshot(of: record.id)?.batch?.count(.running) ?? 0
                mostRunning.withLock { $0 = max($0, running) }
            }
            let runner = BatchRunner(
                BatchRunner.Subject(
                    draft: JobDraft(record, plan: plan, secretInputs: [:]), job: job, lease: lease),
                ports: BatchRunner.Ports(journal: journal, clock: process.clock) { [self] in newID() },
                options: options)
            if let passes = interruption.withLock({ $0 }) { process.after(passes: passes) { runner.suspend() } }
            let items = ScheduledItems(
                runner,
                ScheduledItems.Ports(engine: Engine(ports: ports), journal: journal, clock: process.clock) { _ in plan }
            )
            process.onDeath { runner.suspend() }
            return .success(try await items.run())
        } catch {
            return .failure(error)
        }
    }

    private func acquire(_ journal: ProcessJournal, _ process: SimulatedProcess) async throws(JournalFailure) -> Lease {
        if memory.image.snapshot(of: record.id) == nil {
            var settings = BatchSettings(atOnce: Self.atOnce, tolerance: .count(count), stopAfter: count)
            settings.results = nil
            let batch = BatchRecord(sources: [], folder: "/", settings: settings)
            _ = try await journal.create(
                batch, job: JobSnapshot(record: record, steps: [:], mode: .attached), events: [],
                owner: process.owner)
        }
        let lease =
            if let job = memory.image.snapshot(of: record.id), job.ended == nil, let lease = held(by: process) {
                lease
            } else { try await journal.acquire(record.id, for: process.owner) }
        if memory.image.snapshot(of: record.id)?.batch?.isRead == false {
            let items = (1...count).map {
                NewItem(key: "item-\($0)", line: $0, inputs: ["n": .number(JSONNumber($0))])
            }
            _ = try await journal.add(
                items, place: ReadingPlace(source: 0), isRead: true, known: KnownItemRule(), to: lease)
        }
        return lease
    }

    /// The lease of the process that has just made the batch.
    private func held(by process: SimulatedProcess) -> Lease? {
        let lease = Lease(job: record.id, owner: process.owner, epoch: 1)
        return memory.holds(lease) ? lease : nil
    }

    private func plan(of process: SimulatedProcess) throws(DefinitionError) -> Plan {
        let transport = SimulatedTransport(of: process, over: network, to: service)
        let decorators = DecoratorCatalogue.standard
        // Who gathers waits in virtual time too: meanwhile nothing else is to happen but what takes less.
        let polls = SharedPolls { [clock = process.clock] _ in
            try? await clock.sleep(until: clock.now + .milliseconds(20))
        }
        let catalogue = Catalogue(
            kinds: StandardStages.kinds(network: Network(transport: transport), decorators: decorators, polls: polls),
            checkDecorators: { decorators.check($0, findings: $1) })
        return try Planner(catalogue: catalogue).plan(SourceText(name: "many.json", text: record.source))
    }

    private func newID() -> JobID {
        let number = ids.withLock { number in
            number += 1
            return number
        }
        return JobID(at: simulation.now, random: (1, number))
    }

    // MARK: Checking

    /// Counts the items, and tells the steps of those under way, for a life without an end: the order in which sets are
    /// walked differs between runs, so that the seed alone may not give it again.
    private func itemsUnderWay() -> String {
        let image = memory.image
        let counts = image.snapshot(of: record.id)?.batch?.counts ?? [:]
        let jobs = image.items(of: record.id).filter { $0.state == .running || $0.state == .suspended }.map { item in
            let job = item.job.flatMap { image.snapshot(of: $0) }
            let steps = job?.steps.map { "\($0.key): \($0.value.state)" }.sorted().joined(separator: ", ")
            return
                "\(item.key) \(item.state.rawValue), asked \(job?.request?.rawValue ?? "nothing"): \(steps ?? "no job")"
        }
        return "\(counts) at \(simulation.now)\n" + jobs.joined(separator: "\n")
    }

    /// The counts are what the rows say, at every crash.
    private func wrongCounts() -> [String] {
        let image = memory.image
        guard let batch = image.snapshot(of: record.id)?.batch else { return [] }
        let counted = Dictionary(grouping: image.items(of: record.id), by: \.state).mapValues(\.count)
        return ItemRecord.State.allCases.filter { counted[$0] ?? 0 != batch.count($0) }.map { state in
            "the batch says that \(batch.count(state)) are \(state.rawValue), and \(counted[state] ?? 0) are"
        }
    }

    private func check() -> [String] {
        let items = memory.image.items(of: record.id)
        let batch = memory.image.snapshot(of: record.id)?.batch
        var violations: [String] = []
        if items.count != count { violations.append("\(items.count) items of \(count)") }
        for item in items {
            let expected: ItemRecord.State = ManyService.fails(item.number) ? .failed : .succeeded
            if item.state != expected {
                violations.append("\(item.key) is \(item.state.rawValue): \(String(describing: item.failure))")
            }
            let keys = service.keys[item.number]?.count ?? 0
            if keys != 1 { violations.append("\(item.key) was submitted under \(keys) keys") }
        }
        let cost = items.reduce(0) { $0 + ($1.cost ?? 0) }
        if batch?.cost != cost { violations.append("the batch has cost \(batch?.cost ?? -1), its items \(cost)") }
        let most = mostRunning.withLock { $0 }
        if most > Self.atOnce { violations.append("\(most) items ran at a time, and \(Self.atOnce) may") }
        if batch?.endedCount != count { violations.append("\(batch?.endedCount ?? 0) have ended") }
        return violations
    }
}

/// Where a life leaves how it ended.
private final class EndHolder: Sendable {
    private let held = Mutex<Result<BatchRunner.End, JournalFailure>?>(nil)
    func set(_ end: Result<BatchRunner.End, JournalFailure>) { held.withLock { $0 = end } }
    var end: Result<BatchRunner.End, JournalFailure>? { held.withLock { $0 } }
}
