import JSONPath
import Testing

@testable import PipelineCore

/// A job that is taken up where a file is not which one of its stages has written.
@Suite("A file that is not there when a job is taken up") struct LostFileTests {
    private static let (writer, reader) = (StepKey(stage: "a"), StepKey(stage: "b"))
    private static let stages = """
        { "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "reads": "${{ stages.a.x }}" }
        """
    private static let file = WrittenFile(path: "/out/a.bin", bytes: 1, sha256: nil, step: writer)
    private static let written = StepState.succeeded(["x": .array(["/out/other", "/out/a.bin"])])

    private static func table(
        _ reading: StepState, _ writing: StepState = written, submits: [StepKey: SubmitRecord] = [:]
    ) throws -> JobTable {
        var snapshot = JobSnapshot(
            record: JobSnapshotTests.record,
            steps: [writer: StepRecord(state: writing), reader: StepRecord(state: reading)], mode: .attached)
        snapshot.submits = submits
        snapshot.files = [file]
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    @Test("is asked after while a stage that has not ended reads it")
    func isRead() throws {
        for state in Samples.states {
            let table = try Self.table(state)
            let isRead = !table.snapshot.filesToRead(in: table.plan, retried: false).isEmpty
            #expect(isRead == !state.isEnded, "\(state.name)")
            let isReadAgain = !table.snapshot.filesToRead(in: table.plan, retried: true).isEmpty
            #expect(isReadAgain == (!state.isEnded || [.failed, .cancelled].contains(state.name)), "\(state.name)")
        }
        // Another of its values, and what was submitted to a service.
        let other = try Self.table(.pending, .succeeded(["x": "/out/other"]))
        #expect(other.snapshot.filesToRead(in: other.plan, retried: false).isEmpty)
        let submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: .submitted)
        let submitted = try Self.table(.pending, submits: [Self.writer: submit])
        #expect(submitted.snapshot.filesToRead(in: submitted.plan, retried: false).isEmpty)
    }

    @Test("is asked after again when it was made again before")
    func isAskedTwice() throws {
        var table = try Self.table(.running(AttemptState()))
        try Restart(.nothing, lost: [Self.file], of: table).perform(.background, in: &table)
        #expect(table.snapshot.submits[Self.writer]?.generation == 2)
        try table.change(Self.writer, .started)
        try table.change(Self.writer, .finished(["x": "/out/a.bin"]))
        #expect(!table.snapshot.filesToRead(in: table.plan, retried: false).isEmpty)
    }

    @Test("is made again before the stage that reads it goes on, and an event says so")
    func isMadeAgain() throws {
        for state in [StepState.pending, .running(AttemptState())] {
            var table = try Self.table(state)
            try Restart(.nothing, lost: [Self.file], of: table).perform(.background, in: &table)
            #expect(table.step(Self.writer)?.state == .pending && table.step(Self.reader)?.state == .pending)
            let warnings = table.takeChanges().0.compactMap { change -> String? in
                if case .event(let event) = change { event.data["message"]?.string } else { nil }
            }
            #expect(warnings == ["/out/a.bin is not on this machine: stage 'a' makes it again"])
        }
        // So where it failed, once it is retried: what it began was begun with the file that is lost.
        for (scope, generation) in [(RestartScope.failed, 2), (.nothing, nil)] as [(RestartScope, Int?)] {
            let failed = try #require(Samples.states.first { $0.name == .failed })
            var table = try Self.table(failed)
            try Restart(scope, lost: [Self.file], of: table).perform(.background, in: &table)
            #expect(table.snapshot.submits[Self.reader]?.generation == generation)
        }
        // What runs at a service goes on.
        let submit = SubmitRecord(key: "k", generation: 1, digest: "", phase: .submitted)
        var table = try Self.table(.running(AttemptState()), submits: [Self.reader: submit])
        try Restart(.nothing, lost: [Self.file], of: table).perform(.background, in: &table)
        #expect(table.step(Self.reader)?.state.name == .waiting)
    }
}
