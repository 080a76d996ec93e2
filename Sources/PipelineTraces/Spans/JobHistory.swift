import JSONPath
import PipelineCore

/// The history of one job's runs by its journaled events: a fold, the same over however many owners.
struct JobHistory: Sendable {
    /// One try of a step.
    struct Attempt: Sendable {
        let number: Int
        let started: Timestamp
        /// The last time at which it was known to be under way.
        var seen: Timestamp
        /// Nil of one that ended with its process.
        var ended: Timestamp?
        var error: String?
    }

    /// A step from its start to its end.
    struct StepRun: Sendable {
        let step: StepKey
        /// Which run of the step it is, and of the stage that it is an item of.
        let number: Int
        var parentNumber: Int
        let started: Timestamp
        var ended: Timestamp
        /// As `cicd.pipeline.task.run.result` has it.
        var result = ""
        var error: String?
        var attempts: [Attempt] = []
    }

    /// The job from its start, or from being taken up again after its end, to its end.
    struct JobRun: Sendable {
        let number: Int
        let started: Timestamp
        var ended: Timestamp
        var result = ""
        var error: String?
    }

    /// Something that has ended.
    enum End: Sendable {
        case step(StepRun)
        case job(JobRun)
    }

    private(set) var sequence = 0
    private(set) var pipeline = ""
    /// True if the job has ended for now.
    private(set) var isOver = false
    private var steps: [StepKey: StepRun] = [:]
    private var counts: [StepKey: Int] = [:]
    private var run: JobRun?

    /// Which run of the job it is.
    var runNumber: Int { run?.number ?? 1 }

    /// Takes the next event in; what has ended with it.
    mutating func take(_ event: JobEvent) -> End? {
        sequence = event.sequence ?? sequence
        pipeline = event.pipeline
        if run == nil || isOver, event.kind == .jobStarted || event.kind == .jobResumed || run == nil {
            run = JobRun(number: (run?.number ?? 0) + 1, started: event.time, ended: event.time)
            isOver = false
        }
        if let step = event.step { return take(event, of: step).map(End.step) }
        switch event.kind {
        case .jobSucceeded: return end("success", event)
        case .jobFailed: return end("failure", event)
        case .jobCancelled: return end("cancellation", event)
        case .jobSuspended:
            for step in Array(steps.keys) { see(step, event) }
            return nil
        default: return nil
        }
    }

    private mutating func end(_ result: String, _ event: JobEvent) -> End? {
        isOver = true
        run?.ended = event.time
        run?.result = result
        run?.error = Self.error(of: event)
        return run.map(End.job)
    }

    private mutating func take(_ event: JobEvent, of step: StepKey) -> StepRun? {
        switch event.kind {
        case .stageStarted: begin(step, event)
        case .stageResumed:
            let number = event.attempt ?? 1
            let last = steps[step]?.attempts.last
            if last?.number != number || last?.ended != nil {
                addAttempt(number, to: step, event.time)
            } else {
                see(step, event)
            }
        case .stageWaiting, .stageWarned: see(step, event)
        case .attemptFailed: finishAttempt(of: step, event)
        case .stageSucceeded: return end(step, "success", event)
        case .stageFailed: return end(step, "failure", event)
        case .stageCancelled: return end(step, "cancellation", event)
        case .stageSkipped: return end(step, "skip", event)
        default: break
        }
        return nil
    }

    private mutating func begin(_ step: StepKey, _ event: JobEvent) {
        counts[step, default: 0] += 1
        steps[step] = StepRun(
            step: step, number: counts[step] ?? 1, parentNumber: counts[StepKey(stage: step.stage)] ?? 1,
            started: event.time, ended: event.time)
        addAttempt(event.attempt ?? 1, to: step, event.time)
    }

    private mutating func addAttempt(_ number: Int, to step: StepKey, _ time: Timestamp) {
        steps[step]?.attempts.append(Attempt(number: number, started: time, seen: time))
    }

    private mutating func see(_ step: StepKey, _ event: JobEvent) {
        guard let last = steps[step]?.attempts.indices.last else { return }
        steps[step]?.attempts[last].seen = event.time
    }

    private mutating func finishAttempt(of step: StepKey, _ event: JobEvent) {
        guard var run = steps[step], var last = run.attempts.popLast() else { return }
        if last.ended == nil {
            last.ended = event.time
            last.error = Self.error(of: event)
        }
        run.attempts.append(last)
        steps[step] = run
    }

    private mutating func end(_ step: StepKey, _ result: String, _ event: JobEvent) -> StepRun? {
        // One that never began, as what it needs had failed, ends where it would have begun.
        if steps[step] == nil {
            counts[step, default: 0] += 1
            steps[step] = StepRun(
                step: step, number: counts[step] ?? 1, parentNumber: counts[StepKey(stage: step.stage)] ?? 1,
                started: event.time, ended: event.time)
        }
        finishAttempt(of: step, event)
        guard var run = steps.removeValue(forKey: step) else { return nil }
        run.ended = event.time
        run.result = result
        run.error = result == "failure" ? Self.error(of: event) ?? "failed" : nil
        return run
    }

    private static func error(of event: JobEvent) -> String? { event.data["error"]?["title"]?.string }
}
