import JSONPath
import Testing

@testable import PipelineCore

/// Steps under way that need captures of a stage which runs again.
@Suite struct HeldStepTests {
    private static let (source, reader) = (StepKey(stage: "a"), StepKey(stage: "b"))
    private static let reads = #"{ "id": "b", "kind": "step", "reads": "${{ stages.a.x ?? 1 }}" }"#
    private static let renews = #"{ "id": "b", "kind": "step", "renew": "a" }"#

    /// A job of three stages, of which the second waits for a poll that is due.
    private static func table(_ reading: String, _ state: StepState, fails: Bool = false) throws -> JobTable {
        let stages = #"{ "id": "a", "kind": "step" }, \#(reading), { "id": "c", "kind": "step", "needs": [] }"#
        let reason = WaitReason(reading == renews ? .renewal : .poll)
        let poll = StepState.waiting(AttemptState(), .at(Samples.now), reason)
        let steps = [
            source: StepRecord(state: state), reader: StepRecord(state: poll),
            StepKey(stage: "c"): StepRecord(state: fails ? .failed(Samples.failure) : .succeeded([:])),
        ]
        let snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    /// Returns whether the step goes on.
    private static func isDue(in table: JobTable) -> Bool {
        var table = table
        return table.withIndex { $0.dueSteps(at: Samples.now) } == [reader]
    }

    /// What another owner had read was in its memory alone: the step read null, and failed for good.
    @Test("a step that is taken up waits for what it reads, and fails when that does not come")
    func takenUp() throws {
        func fate(_ reading: String, _ state: StepState, fails: Bool = false) throws -> String {
            let table = try Self.table(reading, state, fails: fails)
            guard Self.isDue(in: table) else { return "held" }
            var job = JobState(table, settings: JobSettings(), marks: EstimateMarks())
            try job.wake(Self.reader)
            return job.table.step(Self.reader)?.state.name == .running ? "goes on" : "fails"
        }
        let rows = try Samples.states.map { state in
            let cells = [
                try fate(Self.reads, state), try fate(Self.renews, state), try fate(Self.reads, state, fails: true),
            ]
            return ([state.name.rawValue] + cells).joined(separator: " | ")
        }
        let table = """
            pending | held | held | fails
            running | held | held | held
            waiting | held | held | held
            unknown | held | held | held
            succeeded | goes on | goes on | goes on
            failed | fails | fails | fails
            cancelled | fails | fails | fails
            skipped | goes on | fails | goes on
            """
        #expect(rows == table.split(separator: "\n").map(String.init))
    }

    @Test("a step goes on with what it has read while the stage runs again that another one wants")
    func inOneProcess() throws {
        var table = try Self.table(Self.reads, .succeeded(["x": 1]))
        try Renewal.runAgain("a", in: &table)
        #expect(Self.isDue(in: table))
        #expect(table.scope(for: Self.reader).stages["a"] == ["x": 1])
        var next = JobTable(
            table.snapshot, plan: table.plan, values: JobValues(environment: [:]), at: JobMoment(Samples.now))
        #expect(!Self.isDue(in: next))
        try next.change(Self.source, .started)
        try next.change(Self.source, .finished(["x": 2]))
        #expect(Self.isDue(in: next))
    }

    @Test("what is held is as far as the stage that holds it, and not held by one that waits for a place")
    func rest() throws {
        func waiting(_ wake: WakeCondition, _ kind: WaitReason.Kind) -> StepState {
            .waiting(AttemptState(), wake, WaitReason(kind))
        }
        let resume = try Self.table(Self.reads, waiting(.resume, .secret))
        #expect(resume.rest == .needsResume)
        let lost = try Self.table(Self.reads, .unknown(AttemptState(), Samples.lost))
        #expect(lost.rest == .unknown)
        let later = Samples.now + .seconds(1)
        let full = try Self.table(Self.reads, waiting(.at(later), .full))
        #expect(full.rest == nil && Self.isDue(in: full))
        var place = try Self.table(Self.reads, .running(AttemptState()))
        #expect(!Self.isDue(in: place))
        try place.change(Self.source, .parked(.at(later), WaitReason(.full)))
        #expect(Self.isDue(in: place))
    }
}
