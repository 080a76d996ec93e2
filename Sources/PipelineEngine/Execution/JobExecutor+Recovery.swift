import Assertions
import PipelineCore

/// A mistake of ours ends neither the engine nor the job: it is recorded, the job is taken up from what is on disk, as
/// after a crash, and the step that it happened to fails.
extension JobExecutor {
    /// The number of times that one owner takes a job up once more before it lets it go.
    static let recoveryLimit = 3

    /// Records what the law says can't happen; what the executor throws then.
    func report(_ mistake: IllegalTransition, file: StaticString = #fileID, line: UInt = #line) -> JournalFailure {
        self.mistake = mistake
        let message = redactor.redact("\(mistake)")
        Assertions.fail(
            message, job: snapshot.record.id.text, step: mistake.step.map { "\($0)" }, file: file, line: line)
        return .other(message)
    }

    /// Works on from what is on disk; the step that was to blame has failed by then.
    func recover(_ missingSecret: String?) async -> Result<JobEnd, JournalFailure> {
        do throws(JournalFailure) {
            guard let mistake else { throw .other("there was no mistake") }
            self.mistake = nil
            try await takeUpAgain()
            if let key = mistake.step {
                _ = try await take(.broken(key, .ownMistake(redactor.redact("\(mistake)"))))
            }
            try await writer.commit()
            return await workInGroup(missingSecret)
        } catch {
            return .failure(error)
        }
    }

    private func takeUpAgain() async throws(JournalFailure) {
        let job = snapshot.record.id
        guard let kept = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
        // What calls that were stopped still said is of a state that is gone; what others said holds.
        for message in mailbox.takeAll() where !message.isOfCall { mailbox.post(message) }
        calls = StepCalls()
        actions = []
        timer = JobTimer()
        writer.forget()
        let table = JobTable(
            kept, plan: state.table.plan, values: state.table.values, at: JobMoment(ports.clock.reading))
        state = JobState(table, settings: state.settings, watch: state.watch, marks: state.marks)
        _ = try await take(.takenUp(kept.mode, .nothing))
    }
}

extension ExecutorMessage {
    /// True if a call of a stage that is stopped by now said it.
    fileprivate var isOfCall: Bool {
        switch self {
        case .ended, .heard, .authenticates, .tick: true
        case .delivered, .watched, .delaysReset, .inbox, .stop: false
        }
    }
}

extension StepFailure {
    /// A failure that is neither the document's nor the service's.
    static func ownMistake(_ message: String) -> StepFailure {
        StepFailure(
            "a mistake of pipeline itself: \(message)",
            hint: "the service is not to blame; 'pipeline doctor --report FILE' writes what can be sent to be mended")
    }
}
