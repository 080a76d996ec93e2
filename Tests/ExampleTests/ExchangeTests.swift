import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import PipelineTestKit
import Synchronization
import Testing

/// The examples do their work against services that answer as the documentation of the real ones says.
@Suite("Examples against exchanges from the services' documentation") struct ExchangeTests {
    private static let folder = ExampleTests.root.appendingPathComponent("Fixtures/Exchanges")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()

    @Test("every example has an exchange, but the one that the demonstration service answers")
    func complete() {
        let played = Set(Self.names.map { $0.split(separator: "~").first.map(String.init) ?? $0 })
        let examples = ExampleTests.examples.map { String($0.dropLast(5)) }
        #expect(examples.count >= 15)
        #expect(Set(examples).subtracting(played) == ["selfie"])
    }

    @Test("an example does what it says", .timeLimit(.minutes(1)), arguments: names)
    func plays(name: String) async throws {
        let service = try FixtureService()
        defer { service.stop() }
        let fixture = try ExchangeFixture(name: name, server: service.url, in: Self.folder)
        service.play(fixture)
        let bench = try ExchangeBench(fixture)
        defer { bench.remove() }
        let outcome = try await bench.run(ExampleTests.root.path + "/Pipelines")
        #expect(outcome.end == .ended(fixture.end), "\(outcome.failure ?? ""), \(service.unforeseen)")
        #expect(service.unforeseen.isEmpty)
        #expect(service.unused.isEmpty)
        #expect(bench.output() == fixture.output)
        #expect(outcome.warnings == fixture.warnings)
        for (key, wanted) in fixture.sent { expect(wanted, in: service.requests, of: key) }
    }

    private func expect(_ wanted: JSON, in requests: [ReceivedRequest], of key: String) {
        let matching = requests.filter { FixtureService.keys(of: $0).contains(key) }
        #expect(!matching.isEmpty, "\(key) was not sent")
        for part in wanted["body"]?.array ?? [] {
            let text = part.string ?? part.text
            #expect(matching.contains { $0.text.contains(text) }, "\(key) lacks \(text): \(matching.map(\.text))")
        }
        for (name, value) in wanted["headers"]?.object ?? [:] {
            let values = matching.map { $0.header(name) }
            let expected = value.array?.map(\.string) ?? values.map { _ in value.string }
            #expect(values == expected, "\(key) \(name): \(values)")
        }
        if let count = wanted["times"]?.number?.int { #expect(matching.count == count, "\(key)") }
    }
}

/// A folder and an engine for one example, in a time that runs a hundred times as fast.
struct ExchangeBench {
    private let fixture: ExchangeFixture
    let folder: String
    private var input: String { folder + "/in" }
    private var results: String { folder + "/out" }

    struct Outcome {
        let end: JobEnd
        let warnings: [String]
        let failure: String?
        let exchanges: [ExchangeRecord]
    }

    init(_ fixture: ExchangeFixture) throws {
        self.fixture = fixture
        folder = NSTemporaryDirectory() + "pipeline-exchange-\(UUID().uuidString)"
        for path in [input, results] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        for (name, content) in fixture.files {
            try content.write(toFile: "\(input)/\(name)", atomically: true, encoding: .utf8)
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Returns what stands in the folder of results.
    func output() -> [String: String] {
        let names = (FileManager.default.enumerator(atPath: results)?.allObjects as? [String] ?? []).filter {
            (try? FileManager.default.attributesOfItem(atPath: "\(results)/\($0)")[.type] as? FileAttributeType)
                == .typeRegular
        }
        return Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, (try? String(contentsOfFile: "\(results)/\($0)", encoding: .utf8)) ?? "")
            })
    }

    func run(_ examples: String) async throws -> Outcome {
        let name = fixture.name.split(separator: "~").first.map(String.init) ?? fixture.name
        let workspace = ExampleBench.workspace(environment: fixture.environment, state: folder + "/state")
        var inputs = fixture.inputs
        for (key, value) in fixture.inputs where value.string.map({ fixture.files[$0] != nil }) == true {
            inputs[key] = .string("\(input)/\(value.string ?? "")")
        }
        let draft = try JobDraft(
            path: "\(examples)/\(name).json", catalogue: workspace.catalogue, given: GivenInputs(document: inputs),
            environment: fixture.environment, standardInput: { nil })
        let warnings = Mutex<[String]>([])
        let memory = MemoryJournal()
        let caller = Caller(fixture.callbacks, plan: draft.plan, journal: memory)
        let log = KeptExchanges()
        var ports = EnginePorts(
            journal: memory, clock: HastyClock(), randomness: SystemRandomness(),
            secrets: SimulatedSecrets(fixture.secrets), files: DiskFiles(), crashProbe: NoCrashProbe(),
            exchanges: log, owner: OwnerID("test"), keyedHash: { "\($0.count)" },
            observe: { event in
                caller.hear(event)
                guard event.kind == .stageWarned, let message = event.data["message"]?.string else { return }
                warnings.withLock { $0.append(message) }
            })
        ports.callbackURL = { _, step, _ in "https://callback.test/\(step.stage)" }
        let engine = Engine(ports: ports)
        let record = draft.record(
            id: JobID("example"), key: "example", started: HastyClock().now, outputFolder: results,
            overwrites: false)
        let drive = try await engine.start(record, plan: draft.plan, mode: .attached)
        caller.drive.withLock { $0 = drive }
        let end = try await drive.run()
        let failure = try await memory.snapshot(of: record.id)?.failure?.failure
        return Outcome(
            end: end, warnings: warnings.withLock { $0 },
            failure: failure.map { "\($0.title) \($0.body ?? "") \($0.hint ?? "")" }, exchanges: log.all)
    }
}

/// The exchanges of a run, in their order.
private final class KeptExchanges: ExchangeLog {
    private let records = Mutex<[ExchangeRecord]>([])
    var all: [ExchangeRecord] { records.withLock { $0 } }
    func append(_ record: ExchangeRecord, of job: JobID) { records.withLock { $0.append(record) } }
}

/// A service that calls back, once for each stage that waits for it, as the receiver of callbacks would take it.
private final class Caller: Sendable {
    let drive = Mutex<Engine.JobHandle?>(nil)
    private let left: Mutex<JSONObject>
    private let plan: Plan
    private let journal: MemoryJournal

    init(_ callbacks: JSONObject, plan: Plan, journal: MemoryJournal) {
        left = Mutex(callbacks)
        self.plan = plan
        self.journal = journal
    }

    private func take(_ stage: String) -> JSON? {
        left.withLock { left in
            defer { left[stage] = nil }
            return left[stage]
        }
    }

    func hear(_ event: JobEvent) {
        guard event.kind == .stageWaiting, let step = event.step,
            let body = take(step.stage),
            let definition = plan.stage(step.stage)?.stage.callback
        else { return }
        let answer = ServiceResponse(status: 200, url: "https://callback.test/", body: Array(body.text.utf8))
        let captures = try? definition.capture.values(in: answer)
        Task { [self] in
            let callback = Callback(id: step.stage, time: event.time, captures: captures)
            _ = try? await journal.post(callback, to: step, of: event.job)
            drive.withLock { $0 }?.checkInbox()
        }
    }
}

/// A clock that is a hundred times as fast as the real one.
struct HastyClock: WallClock {
    private static let factor = 100.0
    private static let start = SystemClock().now

    var now: Timestamp { Self.start + (SystemClock().now - Self.start) * Self.factor }

    var elapsed: Duration { SystemClock().elapsed * Self.factor }

    func sleep(until time: Timestamp) async throws(CancellationError) {
        try await SystemClock().sleep(until: Self.start + (time - Self.start) / Self.factor)
    }
}
