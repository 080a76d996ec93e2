import JSONPath
import PipelineCore
import PipelineKit
import Testing

@testable import PipelineCommands

/// The lines of `show`.
@Suite("A job in plain words") struct JobTextTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)

    private static func job(
        _ steps: [String: StepState], _ changes: [JournalChange] = [], tolerates: Bool = false, owner: OwnerID? = nil
    ) -> OwnedJob {
        let record = JobRecord(
            id: JobID("0j"), pipeline: "test", key: "key", started: now, source: "", sourceName: "", digest: "",
            inputs: [:], environment: [:], folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let steps = steps.map { (StepKey(stage: $0.key), StepRecord(state: $0.value, toleratesFailure: tolerates)) }
        var snapshot = JobSnapshot(
            record: record, steps: Dictionary(uniqueKeysWithValues: steps), mode: .attached)
        for change in changes { snapshot.apply(change) }
        return OwnedJob(snapshot: snapshot, owner: owner)
    }

    private func text(_ job: OwnedJob) -> String {
        let standing = JobStanding(job: job, deferral: nil, now: Self.now)
        let lines = JobText(job: job, report: JobReport(job), order: ["c"], standing: standing).lines
        return lines.map { $0.pieces.map(\.text).joined() }.joined(separator: "\n")
    }

    // "asks again in 0.0 s", of a job that was paused.
    @Test("says when a step goes on only where somebody has the job")
    func waiting() {
        let waits = StepState.waiting(AttemptState(), .at(Self.now + .seconds(5)), WaitReason(.poll, detail: "it runs"))
        let owned = text(Self.job(["c": waits], owner: OwnerID("o")))
        #expect(owned.contains("asks again in 5.0 s: it runs"), "\(owned)")
        let paused = text(Self.job(["c": waits], [.released(.paused)]))
        #expect(paused.contains("waits for a resume: it runs") && !paused.contains("asks again"), "\(paused)")
        let queued = text(Self.job(["c": waits], [.taken(.background), .released(nil)]))
        #expect(queued.contains("nobody has it yet: it runs") && !queued.contains("asks again"), "\(queued)")
    }

    // Only a terminal showed it.
    @Test("says how many steps failed of a job that succeeded, in a list for programs too")
    func tolerated() {
        let states: [String: StepState] = ["c": .failed(StepFailure("no")), "d": .succeeded([:])]
        let job = Self.job(states, [.ended(Self.now)], tolerates: true)
        let line = ListCommand.line(job).pieces.map(\.text).joined()
        #expect(line.contains("  succeeded, 1 failed  test"), "\(line)")
        #expect(JobReport(job).summary["tolerated"] == 1)
        let failed = Self.job(states, [.ended(Self.now)])
        #expect(ListCommand.line(failed).pieces.map(\.text).joined().contains("  failed  test"))
        #expect(JobReport(failed).summary["tolerated"] == 0)
    }
}
