import PipelineCore

/// The calls of a job's stages that are under way.
struct StepCalls {
    private var calls: [StepKey: StepCall] = [:]
    private var cancellation: ServiceCancellation?

    var steps: Dictionary<StepKey, StepCall>.Keys { calls.keys }

    /// Notes that the step's stage is called.
    mutating func begin(_ key: StepKey) -> StepCall {
        let call = StepCall()
        calls[key] = call
        return call
    }

    mutating func end(_ key: StepKey) { calls[key] = nil }

    /// The cancellation of the job, which begins with the first call.
    mutating func cancellation(at time: Timestamp) -> ServiceCancellation {
        let begun = cancellation ?? ServiceCancellation(at: time)
        cancellation = begun
        return begun
    }

    /// Asks the step's call to stop; false where it has not begun.
    func stop(_ key: StepKey) -> Bool {
        calls[key]?.stop()
        return calls[key] != nil
    }

    /// Notes what a step's call is about to say; false where it may not, since the call is to stop.
    func admits(_ report: StepReport, of key: StepKey) -> Bool {
        guard case .submit(let submit, _, _) = report, submit.phase == .sending else { return true }
        return calls[key]?.beginSubmit() ?? true
    }

    /// Notes what a step's call has said and is on disk by now.
    func note(_ report: StepReport, of key: StepKey) {
        if case .submit(let submit, _, _) = report { calls[key]?.note(submit.phase) }
    }

    /// Asks all to stop at once, in order of their names, so that a simulation's seed fixes what happens.
    func stopAll() { for (_, call) in calls.sorted(by: { $0.key < $1.key }) { call.stopAtOnce() } }
}
