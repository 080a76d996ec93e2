import JSONPath
import Testing

@testable import PipelineCore

/// What an input costs, counted in operations of the indexes: the same however many steps a job has.
@Suite struct JobCostTests {
    /// Runs a repeated stage of so many items as an executor would; the operations for each item.
    private func operations(items count: Int) throws -> Double {
        let stages = #"{ "id": "a", "kind": "step", "forEach": "split('a,b', ',')" }, { "id": "b", "kind": "step" }"#
        var state = try JobStateTests.state(stages, ["a": .pending, "b": .pending])
        let moment = JobMoment(Samples.now)
        var inputs: [JobInput] = [.advance]
        var ended: JobEnd?
        let before = state.table.work
        while ended == nil {
            let input = inputs.isEmpty ? JobInput.advance : inputs.removeFirst()
            for command in try state.apply(input, at: moment) {
                switch command {
                case .prepare(let key):
                    inputs.append(.found(.preparation(key, .ready(tolerates: false, checkpoint: nil))))
                case .evaluateItems(let key):
                    let elements = (0..<count).map { JSON.number(JSONNumber($0)) }
                    inputs.append(.found(.items(key, .success(ForEachItems(elements: elements, concurrencyLimit: 4)))))
                case .call(let key):
                    inputs.append(.ended(key, .finished(["x": 1]), StepNotes(), random: 0))
                case .finish(let end): ended = end
                default: break
                }
            }
        }
        #expect(ended == .ended(.succeeded))
        #expect(state.snapshot.steps.count == count + 2)
        return Double(state.table.work - before) / Double(count)
    }

    /// A message looked at all steps some fifteen times: 16,000 items took 140 s.
    @Test("an item of 16,000 costs no more operations than one of ten", .timeLimit(.minutes(2)))
    func items() throws {
        let few = try operations(items: 10)
        let many = try operations(items: 16_000)
        #expect(many <= few * 2, "\(few) operations for each of 10 items, \(many) for each of 16,000")
    }
}
