import JSONPath
import Testing

@testable import PipelineCore

/// What an input costs, counted in operations of the indexes: the same however many steps a job has.
@Suite struct JobCostTests {
    private static let pair =
        #"{ "id": "a", "kind": "step", "forEach": "split('a,b', ',')" }, { "id": "b", "kind": "step" }"#

    /// A job whose items are links, items that follow them, and a stage that reads them all.
    private static let links = """
        { "id": "a", "kind": "step", "forEach": "split('a,b', ',')" },
        { "id": "b", "kind": "step", "forEach": { "stage": "a" }, "reads": "${{ stages.a.x }}" },
        { "id": "c", "kind": "step", "reads": "${{ stages.b.x }}" }
        """

    /// A link that is good for so many seconds and a hundred more.
    private static func link(_ seconds: Int) -> JSON {
        .string("https://host/file?Expires=\(Samples.now.milliseconds / 1000 + 100 + Int64(seconds))")
    }

    /// The operations for each element of the first of at most three stages.
    private func operations(
        _ stages: String, _ elements: [JSON], captures: (StepKey) -> JSONObject = { _ in ["x": 1] },
        check: (inout JobState) -> Void = { _ in }
    ) throws -> Double {
        let names = ["a", "b", "c"].filter { stages.contains("\"id\": \"\($0)\"") }
        let work = try work(stages, names, elements, captures: captures, check: check)
        return Double(work) / Double(elements.count)
    }

    /// Runs stages as an executor would, the first of them over `elements`; the operations in all.
    private func work(
        _ stages: String, _ names: [String], _ elements: [JSON] = [],
        captures: (StepKey) -> JSONObject = { _ in ["x": 1] }, check: (inout JobState) -> Void = { _ in }
    ) throws -> Int {
        var state = try JobStateTests.state(stages, Dictionary(uniqueKeysWithValues: names.map { ($0, .pending) }))
        let moment = JobMoment(Samples.now)
        var inputs: [JobInput] = [.advance]
        var ended: JobEnd?
        var (versions, skips) = ([StepKey: Int](), 0)
        let before = state.table.work
        while ended == nil {
            let input = inputs.isEmpty ? JobInput.advance : inputs.removeFirst()
            for command in try state.apply(input, at: moment) {
                switch command {
                case .commit(let changes, _):
                    for case .step(let key, let step) in changes {
                        // Each change raises the version by one.
                        if step.version != (versions[key] ?? 0) + 1, versions[key] != nil { skips += 1 }
                        versions[key] = step.version
                    }
                case .prepare(let key):
                    inputs.append(.found(.preparation(key, .ready(tolerates: false, checkpoint: nil))))
                case .evaluateItems(let key, _):
                    let items = key.stage == "a" ? elements : nil
                    inputs.append(.found(.items(key, .success(ForEachItems(elements: items, concurrencyLimit: 4)))))
                case .call(let key):
                    // The second of two that run ends before the first.
                    inputs.insert(.ended(key, .finished(captures(key)), StepNotes(), random: 0), at: 0)
                case .finish(let end): ended = end
                default: break
                }
            }
            check(&state)
        }
        #expect(ended == .ended(.succeeded))
        #expect(skips == 0)
        return state.table.work - before
    }

    private func numbers(_ count: Int) -> [JSON] { (0..<count).map { .number(JSONNumber($0)) } }

    /// A message looked at all steps some fifteen times: 16,000 items took 140 s.
    @Test("an item of 16,000 costs no more operations than one of ten", .timeLimit(.minutes(2)))
    func items() throws {
        let few = try operations(Self.pair, numbers(10))
        let many = try operations(Self.pair, numbers(16_000))
        #expect(many <= few * 2, "\(few) operations for each of 10 items, \(many) for each of 16,000")
    }

    @Test("a stage of 400 costs no more operations than one of ten")
    func stages() throws {
        func operations(_ count: Int) throws -> Double {
            let names = (0..<count).map { "s\($0)" }
            let stages = names.map { #"{ "id": "\#($0)", "kind": "step" }"# }.joined(separator: ", ")
            return Double(try work(stages, names)) / Double(count)
        }
        let few = try operations(10)
        let many = try operations(400)
        #expect(many <= few * 2, "\(few) operations for each of 10 stages, \(many) for each of 400")
    }

    /// Each change of a job that was parked, or whose rules hold it back, looked at all steps for it: minutes.
    @Test("what must be done before something expires is known at each of 16,000 items", .timeLimit(.minutes(4)))
    func expiringItems() throws {
        var asked = 0
        func operations(_ count: Int) throws -> Double {
            try self.operations(Self.links, (0..<count).map { Self.link(($0 * 7919) % count) }) { key in
                ["x": Self.link(key.item ?? 0)]
            } check: { state in
                if state.mustActBefore() != nil { asked += 1 }
            }
        }
        let few = try operations(10)
        let many = try operations(16_000)
        #expect(asked > 16_000)
        // A queue's entry moves by the logarithm of its length.
        #expect(many <= few * 4, "\(few) operations for each of 10 items, \(many) for each of 16,000")
    }

    @Test("what is kept of expiries is what a look at all steps finds", arguments: [1, 2, 3, 7, 40])
    func expiries(count: Int) throws {
        _ = try operations(Self.links, (0..<count).map { Self.link(($0 * 31) % count) }) { key in
            ["x": Self.link((key.item ?? 0) * 17 % 11)]
        } check: { state in
            let (job, plan) = (state.snapshot, state.table.plan)
            #expect(state.mustActBefore() == job.steps.keys.compactMap { job.mustBeginBy($0, in: plan) }.min())
        }
    }
}
