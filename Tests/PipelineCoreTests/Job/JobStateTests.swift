import JSONPath
import Testing

@testable import PipelineCore

/// What follows from each input of a job, from its plan and what is known of it.
@Suite struct JobStateTests {
    /// A step, and one whose cancellation ends what it has begun at a service.
    static let kinds = [kind("step", cancelsWork: false), kind("remote", cancelsWork: true)]

    private static func kind(_ name: String, cancelsWork: Bool) -> StageKind {
        let reads = Field("reads", FieldType<JSONTemplate>.json(), "What it reads.")
        return StageKind(name: name, summary: "A step.", fields: [reads]) { reading in
            _ = reading.reader.optional(reads)
            reading.declare([CaptureDeclaration(name: "x", isSubmitted: cancelsWork)])
            return AnyStage(
                Idle(), coding: CheckpointCoding(encode: { _ in [] }, decode: { _ in 0 }),
                work: cancelsWork ? .remoteJob(submits: true, isPushed: false) : .local, cancelsWork: cancelsWork)
        }
    }

    private struct Idle: Stage {
        func resume(from checkpoint: Int?, in context: StageContext<Int>) async throws(StageFailure) -> StageOutcome<
            Int
        > {
            .finished([:])
        }
    }

    static func plan(_ stages: String, services: String = "{}") throws -> Plan {
        let catalogue = Catalogue(kinds: kinds, checkDecorators: { _, _ in })
        let text = #"{ "pipeline": 1, "name": "test", "services": \#(services), "stages": [ \#(stages) ] }"#
        return try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
    }

    static func state(
        _ stages: String, _ states: [String: StepState], tolerant: Set<String> = [],
        submits: [StepKey: SubmitRecord] = [:]
    ) throws -> JobState {
        let steps = states.map { name, state in
            (StepKey(stage: name), StepRecord(state: state, toleratesFailure: tolerant.contains(name)))
        }
        var snapshot = JobSnapshot(
            record: JobSnapshotTests.record, steps: Dictionary(uniqueKeysWithValues: steps), mode: .attached)
        snapshot.submits = submits
        let table = JobTable(
            snapshot, plan: try plan(stages), values: JobValues(environment: [:]), at: JobMoment(Samples.now))
        return JobState(table, settings: JobSettings(), marks: EstimateMarks())
    }

    /// Returns what the job does when it is asked, in words; changes are not told.
    private func commands(
        _ stages: String, _ states: [String: StepState], tolerant: Set<String> = []
    ) throws -> [String] {
        var state = try Self.state(stages, states, tolerant: tolerant)
        return try state.apply(.advance, at: JobMoment(Samples.now)).compactMap(Self.word)
    }

    private static func word(_ command: JobCommand) -> String? {
        switch command {
        case .prepare(let key): "prepare \(key)"
        case .evaluateItems(let key, _): "items \(key)"
        case .call(let key): "call \(key)"
        case .stop(let key): "stop \(key)"
        case .wait(let time): time.map { "wait \(($0 - Samples.now).seconds)" } ?? "wait"
        case .finish(.ended(let phase)): "\(phase)"
        case .finish(let end): "\(end)"
        default: nil
        }
    }

    private let row = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step" }"#
    private let fan = #"{ "id": "a", "kind": "step", "needs": [] }, { "id": "b", "kind": "step", "needs": [] }"#
    private let done = StepState.succeeded([:])

    @Test("a stage begins when the one before it has ended")
    func inARow() throws {
        #expect(try commands(row, ["a": .pending, "b": .pending]) == ["prepare a"])
        #expect(try commands(row, ["a": .running(AttemptState()), "b": .pending]) == ["wait"])
        #expect(try commands(row, ["a": done, "b": .pending]) == ["prepare b"])
    }

    @Test("stages without needs begin together")
    func together() throws {
        #expect(try commands(fan, ["a": .pending, "b": .pending]) == ["prepare a", "prepare b"])
    }

    @Test("after a failure nothing begins; a failure that is tolerated stops nothing")
    func afterFailure() throws {
        let states: [String: StepState] = ["a": .failed(Samples.failure), "b": .pending]
        #expect(try commands(fan, states) == ["failed"])
        #expect(try commands(fan, states, tolerant: ["a"]) == ["prepare b"])
    }

    @Test("what waits is still woken after another stage has failed")
    func wakesAfterFailure() throws {
        let waiting = StepState.waiting(AttemptState(), .at(Samples.now), WaitReason(.poll))
        #expect(try commands(fan, ["a": .failed(Samples.failure), "b": waiting]).first == "call b")
    }

    @Test("a wait ends at its time, not before")
    func wakes() throws {
        let early = StepState.waiting(AttemptState(), .at(Samples.now + .milliseconds(1)), WaitReason(.poll))
        let due = StepState.waiting(AttemptState(), .callback(orAt: Samples.now), WaitReason(.callback))
        let push = StepState.waiting(AttemptState(), .callback(orAt: nil), WaitReason(.callback))
        #expect(try commands(fan, ["a": early, "b": due]) == ["call b", "wait 0.001"])
        #expect(
            try commands(fan, ["a": push, "b": .waiting(AttemptState(), .resume, WaitReason(.secret))]) == ["wait"])
        #expect(try commands(fan, ["a": push, "b": done]) == ["wait"])
    }

    @Test("a stage that reads a skipped one is skipped, one that can do without is not")
    func skips() throws {
        let reads = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x }}" }"#
        let tolerant =
            #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x ?? 1 }}" }"#
        let states: [String: StepState] = ["a": .skipped, "b": .pending]
        #expect(try commands(reads, states) == ["succeeded"])
        #expect(try commands(tolerant, states) == ["prepare b"])
        #expect(try commands(row, states) == ["prepare b"])
    }

    @Test(
        "where a job rests",
        arguments: [
            (["a": StepState.running(AttemptState()), "b": .succeeded([:])], "wait"),
            (["a": .waiting(AttemptState(), .callback(orAt: nil), WaitReason(.callback)), "b": .pending], "prepare b"),
            (["a": .waiting(AttemptState(), .resume, WaitReason(.secret)), "b": .pending], "suspended"),
            (["a": .unknown(AttemptState(), Samples.lost), "b": .succeeded([:])], "unknown"),
            (["a": .failed(Samples.failure), "b": .pending], "failed"),
            (["a": .succeeded([:]), "b": .skipped], "succeeded"),
            (["a": .cancelled, "b": .succeeded([:])], "cancelled"),
        ] as [([String: StepState], String)])
    func rest(states: [String: StepState], expected: String) throws {
        let last = try commands(fan, states).last ?? ""
        #expect(last.contains(expected), "\(last)")
    }

    /// It waited for ever, and nobody was told to resolve the submit.
    @Test("a job rests as unknown whose steps wait for the places of its own unknown submits alone")
    func placesOfUnknownSubmits() throws {
        let full = StepState.waiting(AttemptState(), .at(Samples.now + .seconds(1)), WaitReason(.full))
        let poll = StepState.waiting(AttemptState(), .at(Samples.now + .seconds(1)), WaitReason(.poll))
        let lost = StepState.unknown(AttemptState(), Samples.lost)
        func table(_ limit: String, _ items: [StepState]) throws -> JobTable {
            let stages = #"{ "id": "a", "kind": "step", "service": "s", "forEach": "split('p,q,r', ',')" }"#
            let services = #"{ "s": { "url": "http://s", "limits": { "computations": \#(limit) } } }"#
            var steps = [StepKey(stage: "a"): StepRecord(state: .running(AttemptState()))]
            for (item, state) in items.enumerated() {
                steps[StepKey(stage: "a", item: item)] = StepRecord(state: state, value: "p")
            }
            let snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
            return JobTable(
                snapshot, plan: try Self.plan(stages, services: services), values: JobValues(environment: [:]),
                at: JobMoment(Samples.now))
        }
        func rest(_ limit: String, _ items: StepState...) throws -> JobRest? { try table(limit, items).rest }
        #expect(try rest("1", lost, full, full) == .unknown)
        #expect(try rest("2", lost, lost, full) == .unknown)
        #expect(try rest(#""${{ 1 }}""#, lost, full, .pending) == .unknown)
        // Another job may have the second place, and another step goes on.
        #expect(try rest("2", lost, full, full) == nil)
        #expect(try rest("1", lost, full, poll) == nil)
        #expect(try rest("1", .pending, full, full) == nil)
        // Nobody takes it up before a person has settled it.
        var left = try table("1", [lost, full, .pending])
        #expect(try JobEnding.leaveUnknown(in: &left).count == 1)
        #expect(left.step(StepKey(stage: "a", item: 1))?.state == .pending)
        #expect(left.snapshot.phase(isOwned: false) == .unknown)
    }

    /// All that the journal had were marked: one that had come meanwhile woke nothing, and a job whose result comes by a push
    /// alone waited until its deadline.
    @Test("a step takes as many pushes as the job knew of")
    func takenPushes() throws {
        let key = StepKey(stage: "a")
        let wait = StepState.waiting(
            AttemptState(), .callback(orAt: Samples.now + .seconds(600)), WaitReason(.callback))
        var state = try Self.state(row, ["a": wait, "b": .pending])
        func hear(_ waiting: Int, _ taken: Int) throws -> [String] {
            let inbox = JobInbox(request: nil, pushes: [key: CallbackCount(waiting: waiting, taken: taken)])
            let commands =
                try state.apply(.inbox(inbox), at: JobMoment(Samples.now))
                + state.apply(.advance, at: JobMoment(Samples.now))
            return commands.flatMap { command -> [String] in
                guard case .commit(let changes, _) = command else { return Self.word(command).map { [$0] } ?? [] }
                return changes.compactMap { change in
                    if case .callbacksTaken(_, let count) = change { "takes \(count)" } else { nil }
                }
            }
        }
        #expect(try hear(1, 0).prefix(2) == ["takes 1", "call a"])
        _ = try state.apply(
            .ended(
                key, .waiting([], .callback(orAt: Samples.now + .seconds(600)), WaitReason(.callback)), StepNotes(),
                random: 0),
            at: JobMoment(Samples.now))
        #expect(try !hear(0, 1).contains("call a"), "no other came")
        #expect(try hear(2, 1).prefix(2) == ["takes 2", "call a"])
    }

    /// A submit whose response was lost was sent again, the push that had come before it was forgotten, and the next poll
    /// was hours away.
    @Test("a step that reconciles its submit leaves its pushes to the call that asks", arguments: [true, false])
    func pushesBeforeSubmit(isSubmitted: Bool) throws {
        let key = StepKey(stage: "a")
        let submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: isSubmitted ? .submitted : .sending)
        let wait = StepState.waiting(AttemptState(), .at(Samples.now), WaitReason(.retry))
        var state = try Self.state(#"{ "id": "a", "kind": "remote" }"#, ["a": wait], submits: [key: submit])
        let inbox = JobInbox(request: nil, pushes: [key: CallbackCount(waiting: 1)])
        _ = try state.apply(.inbox(inbox), at: JobMoment(Samples.now))
        let commands = try state.apply(.advance, at: JobMoment(Samples.now))
        #expect(commands.compactMap(Self.word).contains("call a"))
        #expect(state.snapshot.pushes[key] == CallbackCount(waiting: isSubmitted ? 0 : 1, taken: isSubmitted ? 1 : 0))
    }

    @Test("for want of a secret around a stage the job is let go, and the stage is asked about again")
    func lackingSecret() throws {
        var state = try Self.state(fan, ["a": .pending, "b": .pending])
        _ = try state.apply(.advance, at: JobMoment(Samples.now))
        let lacking = AttemptFailure(Samples.failure, kind: .secret)
        let findings: [(String, StepPreparation)] = [
            ("a", .failed(lacking)), ("b", .ready(tolerates: false, checkpoint: nil)),
        ]
        for (stage, found) in findings {
            _ = try state.apply(.found(.preparation(StepKey(stage: stage), found)), at: JobMoment(Samples.now))
        }
        let (key, called) = (StepKey(stage: "a"), StepKey(stage: "b"))
        #expect(state.snapshot.steps[key]?.state == .pending)
        _ = try state.apply(.ended(called, .stopped, StepNotes(), random: 0), at: JobMoment(Samples.now))
        _ = try state.apply(.advance, at: JobMoment(Samples.now))
        #expect(state.snapshot.cause == .secret && state.snapshot.steps[key]?.state == .pending)
    }

    /// A deadline that had passed armed its timer again and again while the call took its time to stop: 1.4 GiB in five
    /// seconds.
    @Test("a call is asked to stop once when its deadline has passed, and nothing waits for that time any more")
    func deadline() throws {
        let stages = #"{ "id": "a", "kind": "step", "deadline": "3s" }"#
        var state = try Self.state(stages, ["a": .pending])
        _ = try state.apply(.advance, at: JobMoment(Samples.now))
        _ = try state.apply(
            .found(.preparation(StepKey(stage: "a"), .ready(tolerates: false, checkpoint: nil))),
            at: JobMoment(Samples.now))
        #expect(try state.apply(.advance, at: JobMoment(Samples.now)).compactMap(Self.word) == ["wait 3.0"])
        let late = JobMoment(Samples.now + .seconds(3))
        #expect(try state.apply(.advance, at: late).compactMap(Self.word) == ["stop a", "wait"])
        #expect(try state.apply(.advance, at: late).compactMap(Self.word) == ["wait"])
    }
}
