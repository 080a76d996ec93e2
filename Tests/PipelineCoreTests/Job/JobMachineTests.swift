import JSONPath
import PipelineCore
import Testing

/// What a job does next, from its plan and what is known of it.
@Suite struct JobMachineTests {
    private static let kind = StageKind(
        name: "step", summary: "A step.", fields: [Field("reads", FieldType<JSONTemplate>.json(), "What it reads.")]
    ) { reading in
        _ = reading.reader.optional(Field("reads", FieldType<JSONTemplate>.json(), "What it reads."))
        reading.declare([CaptureDeclaration(name: "x")])
        return AnyStage(
            Idle(), coding: CheckpointCoding(encode: { _ in [] }, decode: { _ in 0 }))
    }

    private struct Idle: Stage {
        func resume(from checkpoint: Int?, in context: StageContext<Int>) async throws(StageFailure) -> StageOutcome<
            Int
        > {
            .finished([:])
        }
    }

    private func plan(_ stages: String) throws -> Plan {
        let catalogue = Catalogue(kinds: [Self.kind], checkDecorators: { _, _ in })
        let text = #"{ "pipeline": 1, "name": "test", "stages": [ \#(stages) ] }"#
        return try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
    }

    private func decisions(
        _ stages: String, _ states: [String: StepState], tolerant: Set<String> = []
    ) throws -> [JobMachine.Decision] {
        JobMachine(plan: try plan(stages)).decisions(for: snapshot(states, tolerant), at: Samples.now)
    }

    private func snapshot(_ states: [String: StepState], _ tolerant: Set<String> = []) -> JobSnapshot {
        let steps = states.map { name, state in
            (StepKey(stage: name), StepRecord(state: state, toleratesFailure: tolerant.contains(name)))
        }
        return JobSnapshot(
            record: JobSnapshotTests.record, steps: Dictionary(uniqueKeysWithValues: steps), mode: .attached)
    }

    private let row = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step" }"#
    private let fan = #"{ "id": "a", "kind": "step", "needs": [] }, { "id": "b", "kind": "step", "needs": [] }"#
    private let done = StepState.succeeded([:])

    /// Every stage asked of every step whether the job had failed: 300 stages in a row took half a minute, 3000 hours.
    @Test("of thousands of stages each is looked at once for a decision", .timeLimit(.minutes(1)))
    func thousands() throws {
        let ids = (0..<3000).map { "s\($0)" }
        let stages = ids.map { #"{ "id": "\#($0)", "kind": "step" }"# }.joined(separator: ",")
        let machine = JobMachine(plan: try plan(stages))
        let job = snapshot(Dictionary(uniqueKeysWithValues: ids.map { ($0, .pending) }))
        for _ in 1...100 {
            #expect(machine.decisions(for: job, at: Samples.now) == [.begin(StepKey(stage: "s0"))])
            #expect(machine.nextWake(of: job) == nil)
        }
    }

    @Test("a stage begins when the one before it has ended")
    func inARow() throws {
        #expect(try decisions(row, ["a": .pending, "b": .pending]) == [.begin(StepKey(stage: "a"))])
        #expect(try decisions(row, ["a": .running(AttemptState()), "b": .pending]) == [])
        #expect(try decisions(row, ["a": done, "b": .pending]) == [.begin(StepKey(stage: "b"))])
    }

    @Test("stages without needs begin together")
    func together() throws {
        let both: [JobMachine.Decision] = [.begin(StepKey(stage: "a")), .begin(StepKey(stage: "b"))]
        #expect(try decisions(fan, ["a": .pending, "b": .pending]) == both)
    }

    @Test("after a failure nothing begins; a failure that is tolerated stops nothing")
    func afterFailure() throws {
        let states: [String: StepState] = ["a": .failed(Samples.failure), "b": .pending]
        #expect(try decisions(fan, states) == [])
        #expect(try decisions(fan, states, tolerant: ["a"]) == [.begin(StepKey(stage: "b"))])
    }

    @Test("what waits is still woken after another stage has failed")
    func wakesAfterFailure() throws {
        let waiting = StepState.waiting(AttemptState(), .at(Samples.now), WaitReason(.poll))
        #expect(try decisions(fan, ["a": .failed(Samples.failure), "b": waiting]) == [.wake(StepKey(stage: "b"))])
    }

    @Test("a wait ends at its time, not before")
    func wakes() throws {
        let early = StepState.waiting(AttemptState(), .at(Samples.now + .milliseconds(1)), WaitReason(.poll))
        let due = StepState.waiting(AttemptState(), .callback(orAt: Samples.now), WaitReason(.callback))
        let push = StepState.waiting(AttemptState(), .callback(orAt: nil), WaitReason(.callback))
        #expect(try decisions(fan, ["a": early, "b": due]) == [.wake(StepKey(stage: "b"))])
        #expect(try decisions(fan, ["a": push, "b": .waiting(AttemptState(), .resume, WaitReason(.secret))]) == [])
        let machine = JobMachine(plan: try plan(fan))
        #expect(machine.nextWake(of: snapshot(["a": early, "b": due])) == Samples.now)
        #expect(machine.nextWake(of: snapshot(["a": push, "b": done])) == nil)
    }

    @Test("a stage that reads a skipped one is skipped, one that can do without is not")
    func skips() throws {
        let reads = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x }}" }"#
        let tolerant =
            #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x ?? 1 }}" }"#
        let states: [String: StepState] = ["a": .skipped, "b": .pending]
        #expect(try decisions(reads, states) == [.skip(StepKey(stage: "b"))])
        #expect(try decisions(tolerant, states) == [.begin(StepKey(stage: "b"))])
        #expect(try decisions(row, states) == [.begin(StepKey(stage: "b"))])
    }

    @Test(
        "where a job rests",
        arguments: [
            (["a": StepState.running(AttemptState()), "b": .pending], nil),
            (["a": .waiting(AttemptState(), .at(Samples.now), WaitReason(.poll)), "b": .pending], nil),
            (["a": .waiting(AttemptState(), .callback(orAt: nil), WaitReason(.callback)), "b": .pending], nil),
            (["a": .waiting(AttemptState(), .resume, WaitReason(.secret)), "b": .pending], .needsResume),
            (["a": .unknown(AttemptState(), Samples.lost), "b": .pending], .unknown),
            (
                [
                    "a": .unknown(AttemptState(), Samples.lost),
                    "b": .waiting(AttemptState(), .at(Samples.now), WaitReason(.poll)),
                ], nil
            ),
            (["a": .failed(Samples.failure), "b": .pending], .ended(.failed)),
            (["a": .succeeded([:]), "b": .skipped], .ended(.succeeded)),
            (["a": .cancelled, "b": .succeeded([:])], .ended(.cancelled)),
        ] as [([String: StepState], JobMachine.Rest?)])
    func rest(states: [String: StepState], expected: JobMachine.Rest?) throws {
        #expect(JobMachine(plan: try plan(fan)).rest(of: snapshot(states)) == expected)
    }
}
