import PipelineCore
import PipelineJournal
import PipelineKit

/// The things to be known before the first event is shown.
extension JobFollower {
    /// A job that the background owner is about to take up is waited for so often, so long.
    private static let patience = (times: 60, pause: Duration.milliseconds(50))

    /// Returns what the owner foretold before anybody watched, from the same history.
    func expectations(of job: JobSnapshot, _ plan: Plan) async throws -> [JobEvent] {
        let samples = try await workspace.samples(of: job.record.pipeline)
        let now = journal.clock.now
        return plan.stages.compactMap { stage in
            let key = StepKey(stage: stage.id)
            guard let step = job.steps[key], [.running, .waiting].contains(step.state.name), let started = step.started
            else { return nil }
            let outlook = StageOutlook(
                samples: samples[stage.id] ?? [], subject: stage.subject(in: job.documentScope()),
                guess: stage.estimate?.constant?.seconds)
            return Estimate(outlook, elapsed: now.seconds(since: started)).map { estimate in
                JobEvent(
                    sequence: nil, time: now, kind: .estimateChanged, job: job.record.id,
                    pipeline: job.record.pipeline, step: key, attempt: step.attempts, data: estimate.data)
            }
        }
    }

    /// What was just handed to the background owner is not suspended, only not yet taken up.
    func awaitTaking(of job: OwnedJob) async throws {
        guard Self.isToBeTaken(job), !goesOnByItself(job), try await hasOwner else { return }
        for _ in 0..<Self.patience.times {
            let query = JobQuery(prefix: job.snapshot.record.id.text, isBrief: true)
            guard let latest = try await journal.jobs(query).first, Self.isToBeTaken(latest) else { return }
            try await Self.pause(Self.patience.pause)
        }
    }

    /// True for a job that some worker takes up, of today or tomorrow: all of them may be full, or none be there.
    func goesOnByItself(_ job: OwnedJob) -> Bool { journal.shared != nil && Self.isToBeTaken(job) }

    /// True if somebody is there who takes up such jobs.
    private var hasOwner: Bool {
        get async throws { (try? BackgroundOwner(settings: workspace.settings).ask(.status)) != nil }
    }

    private static func isToBeTaken(_ job: OwnedJob) -> Bool {
        job.owner == nil && job.snapshot.cause == nil && job.snapshot.goesOnByItself
    }
}
