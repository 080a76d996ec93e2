import JSONPath
import Testing

@testable import PipelineCore

/// Items of a repeated stage whose elements come anew, since a stage that gives them ran again.
@Suite struct ReopenedItemsTests {
    private static let done = StepState.succeeded([:])
    private static let running = StepState.running(AttemptState())

    private static func key(_ stage: String, _ item: Int? = nil) -> StepKey { StepKey(stage: stage, item: item) }

    private static func step(_ state: StepState, _ value: JSON? = nil) -> StepRecord {
        var step = StepRecord(state: state, value: value)
        if state.isEnded { step.ended = Samples.now + .seconds(-30) }
        step.attempts = state.attempt?.number ?? 1
        return step
    }

    private static func table(
        _ stages: String, _ steps: [StepKey: StepRecord], submits: [StepKey: SubmitRecord] = [:]
    ) throws -> JobTable {
        var snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
        snapshot.submits = submits
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    /// Its item of the followed stage had failed in a run between, and the job succeeded without it for good.
    @Test("an item that was dropped begins when its item of the followed stage has succeeded after all")
    func dropped() throws {
        let stages = #"{ "id": "a", "kind": "step", "forEach": "split('p,q', ',')" }, "#
        let follower = #"{ "id": "b", "kind": "step", "forEach": { "stage": "a" } }"#
        let steps = [
            Self.key("a"): Self.step(Self.done), Self.key("a", 0): Self.step(Self.done, "p"),
            Self.key("a", 1): Self.step(Self.done, "q"), Self.key("b"): Self.step(Self.running),
            Self.key("b", 0): Self.step(Self.done, "p"), Self.key("b", 1): Self.step(.skipped),
        ]
        var (table, fanOut) = (try Self.table(stages + follower, steps), FanOut())
        let stage = try #require(table.plan.stage("b"))
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == .expand)
        try fanOut.expand(stage, ForEachItems(elements: nil, concurrencyLimit: nil), in: &table)
        #expect(table.step(Self.key("b", 0))?.state == Self.done)
        #expect(table.step(Self.key("b", 1))?.state == .pending && table.step(Self.key("b", 1))?.value == "q")
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == .beginItems(1))
    }

    /// The mended item went no further, and the job succeeded: "3 of 3 items done".
    @Test("items that read a stage of which one is retried begin again, and so do those skipped for want of it")
    func readers() throws {
        let list = #""forEach": "split('p,q', ',')""#
        let stages = #"""
            { "id": "a", "kind": "step", \#(list), "tolerate": 1 },
            { "id": "e", "kind": "step", "needs": [], "forEach": "stages.a.x" },
            { "id": "r", "kind": "step", "needs": [], \#(list), "reads": "${{ stages.a.x[index] ?? 1 }}" },
            { "id": "w", "kind": "step", "needs": [], \#(list), "when": "stages.a.x[index] != null" },
            { "id": "f", "kind": "step", "needs": [], "forEach": { "stage": "a" }, "reads": "${{ stages.a.x }}" },
            { "id": "k", "kind": "step", "needs": [], "when": "stages.a.x[0] == null" },
            { "id": "u", "kind": "step", "needs": [], \#(list) }
            """#
        var steps: [StepKey: StepRecord] = [:]
        for stage in ["a", "e", "r", "w", "f", "u"] {
            steps[Self.key(stage)] = Self.step(Self.done)
            for item in 0...1 { steps[Self.key(stage, item)] = Self.step(Self.done, "p") }
        }
        steps[Self.key("a", 1)] = Self.step(.failed(Samples.failure), "q")
        steps[Self.key("e", 1)] = Self.step(.skipped, .null)
        steps[Self.key("f", 1)] = nil
        steps[Self.key("k")] = Self.step(.skipped)
        var table = try Self.table(stages, steps)
        try Restart(.failed, of: table).perform(.attached, in: &table)
        let pending = table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        #expect(pending == ["a", "a[1]", "e", "e[1]", "f", "k", "r", "r[0]", "r[1]", "w", "w[0]", "w[1]"])
    }

    /// A login was refused when a download needed a fresh token: a resume sent the file again, and ordered the finished job
    /// once more.
    @Test(
        "what has read a stage before that failed for want of fresh captures stays; what lived with its failure does not",
        arguments: [StepState.failed(Samples.failure), .cancelled])
    func failedRenewal(end: StepState) throws {
        let stages = #"""
            { "id": "a", "kind": "step" },
            { "id": "b", "kind": "step", "needs": [], "reads": "${{ stages.a.x ?? 1 }}" },
            { "id": "c", "kind": "step", "needs": [], "reads": "${{ stages.a.x ?? 1 }}" },
            { "id": "d", "kind": "step", "needs": [], "reads": "${{ stages.b.x ?? 1 }}" },
            { "id": "e", "kind": "step", "needs": [], "forEach": "split('p,q', ',')", "reads": "${{ stages.a.x ?? 1 }}" },
            { "id": "f", "kind": "step", "needs": [], "when": "stages.a.x == 2" },
            { "id": "g", "kind": "step", "needs": [], "when": "stages.a.x == 2" }
            """#
        func step(_ state: StepState, from began: Double? = nil, to end: Double?) -> StepRecord {
            var step = StepRecord(state: state)
            step.started = began.map { Samples.now + .seconds($0) }
            step.ended = end.map { Samples.now + .seconds($0) }
            return step
        }
        let steps = [
            Self.key("a"): step(end, from: -10, to: -8), Self.key("b"): step(Self.done, from: -20, to: -15),
            Self.key("c"): step(Self.done, from: -8, to: -5), Self.key("d"): step(Self.done, from: -14, to: -13),
            Self.key("e"): step(Self.done, from: -20, to: -15), Self.key("e", 0): step(Self.done, from: -19, to: -18),
            Self.key("e", 1): step(Self.done, from: -18, to: -16), Self.key("f"): step(.skipped, to: -20),
            Self.key("g"): step(.skipped, to: -8),
        ]
        var table = try Self.table(stages, steps)
        try Restart(.failed, of: table).perform(.attached, in: &table)
        let pending = table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        #expect(pending == ["a", "c", "g"])
    }

    /// The items that had not begun were never done: the job succeeded with null for what two paid jobs had given.
    @Test("an optional stage that was broken off, cancelled or failed for want of another is taken up with that one")
    func brokenOff() throws {
        let stages = #"""
            { "id": "x", "kind": "step" },
            { "id": "p", "kind": "step", "needs": [], "forEach": "split('p,q', ',')", "continueOnFailure": true },
            { "id": "c", "kind": "step", "needs": [], "continueOnFailure": true },
            { "id": "l", "kind": "step", "needs": [], "continueOnFailure": true, "reads": "${{ stages.x.x ?? 1 }}" },
            { "id": "o", "kind": "step", "needs": [], "continueOnFailure": true, "reads": "${{ stages.x.x ?? 1 }}" },
            { "id": "t", "kind": "step", "needs": [], "continueOnFailure": true }
            """#
        func step(_ state: StepState, endedAgo seconds: Double = 20) -> StepRecord {
            var step = StepRecord(state: state, toleratesFailure: true)
            step.started = Samples.now + .seconds(-30)
            step.ended = Samples.now + .seconds(-seconds)
            return step
        }
        let failed = StepState.failed(Samples.failure)
        var own = step(failed, endedAgo: 10)
        own.toleratesFailure = false
        let steps = [
            Self.key("x"): own, Self.key("p"): step(failed, endedAgo: 9), Self.key("p", 0): step(Self.done),
            Self.key("p", 1): StepRecord(state: .pending), Self.key("c"): step(.cancelled),
            Self.key("l"): step(failed, endedAgo: 9), Self.key("o"): step(failed, endedAgo: 12),
            Self.key("t"): step(failed, endedAgo: 9),
        ]
        var table = try Self.table(stages, steps)
        try Restart(.failed, of: table).perform(.attached, in: &table)
        let pending = table.snapshot.steps.filter { $0.value.state == .pending }.map { "\($0.key)" }.sorted()
        #expect(pending == ["c", "l", "p", "p[1]", "x"])
    }

    private static let repeated = """
        { "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "forEach": "stages.a.x" }
        """

    /// A repeated stage that has begun again, with items of before.
    private static func begunAgain(_ items: [StepRecord]) throws -> JobTable {
        var own = step(running)
        own.started = Samples.now + .seconds(-10)
        var steps = [key("a"): step(.succeeded(["x": []])), key("b"): own]
        for (item, step) in items.enumerated() { steps[key("b", item)] = step }
        let submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: .submitted)
        return try table(repeated, steps, submits: [key("b", 1): submit])
    }

    @Test("an item whose element is another by now begins again, a new one begins, and one that is gone is dropped")
    func otherElements() throws {
        func states(_ elements: [JSON], last: StepState = Self.done) throws -> [String] {
            var table = try Self.begunAgain([Self.step(Self.done, "x"), Self.step(last, "z")])
            var fanOut = FanOut()
            let stage = try #require(table.plan.stage("b"))
            try fanOut.expand(stage, ForEachItems(elements: elements, concurrencyLimit: nil), in: &table)
            let generation = table.snapshot.submits[Self.key("b", 1)]?.generation ?? 0
            return (0...2).compactMap { table.step(Self.key("b", $0)) }.map { step in
                "\(step.state.name) \(step.value?.string ?? "-")"
            } + ["\(generation)"]
        }
        #expect(try states(["x", "z"]) == ["succeeded x", "succeeded z", "1"])
        #expect(try states(["x", "y", "z"]) == ["succeeded x", "pending y", "pending z", "2"])
        #expect(try states(["x"]) == ["succeeded x", "skipped -", "2"])
        // A failed one that is retried keeps what it has at the service only with its element.
        #expect(try states(["x", "z"], last: .pending) == ["succeeded x", "pending z", "1"])
        #expect(try states(["x", "y"], last: .pending) == ["succeeded x", "pending y", "2"])
    }

    @Test("after a crash the elements are asked for again until an item has begun with them")
    func crash() throws {
        var table = try Self.begunAgain([Self.step(Self.done, "x")])
        let (stage, fanOut) = (try #require(table.plan.stage("b")), FanOut())
        #expect(fanOut.wantsElements(of: stage, in: table))
        table.edit(Self.key("b", 0)) { $0.ended = Samples.now }
        #expect(!fanOut.wantsElements(of: stage, in: table))
        let begun = try Self.begunAgain([Self.step(Self.done, "x"), Self.step(Self.running, "z")])
        #expect(!fanOut.wantsElements(of: stage, in: begun))
    }
}
