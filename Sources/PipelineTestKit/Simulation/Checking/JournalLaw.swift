import PipelineCore

/// The law that every change of a job must keep to, checked from outside of the engine and without its code.
enum JournalLaw {
    /// Returns what is wrong with a change of a job; empty when nothing is.
    static func violations(of change: JournalChange, on job: JobSnapshot) -> [String] {
        switch change {
        case .step(let key, let step): step.state == job.steps[key]?.state ? [] : stepViolations(key, step, job)
        case .submit(let key, let record): submitViolations(key, record, job.submits[key])
        case .event(let event):
            event.sequence == job.sequence + 1
                ? [] : ["event \(event.kind.rawValue) has the number \(event.sequence ?? -1) after \(job.sequence)"]
        case .notification(let record):
            job.notifications[record.id]?.state == .sent ? ["notification \(record.id) changed after it was sent"] : []
        case .fact, .file, .resume, .sample, .taken, .requested, .answered, .released, .ended, .callbacksTaken,
            .callbackJudged, .callbacksVoided,
            .reopened, .measured, .item:
            []
        }
    }

    private static func stepViolations(_ key: StepKey, _ step: StepRecord, _ job: JobSnapshot) -> [String] {
        guard let old = job.steps[key] else {
            let isNewItem = key.item != nil && step.state == .pending
            return isNewItem ? [] : ["step \(key) was never there"]
        }
        // A person wants it done again: as if it had never run.
        if step.state == .pending, step.attempts == 0, step.checkpoint == nil { return [] }
        // Its captures are void and are got again, of the same submit where there is one.
        if step.state == .pending, old.state.name == .succeeded, step.started == nil, step.ended == nil { return [] }
        var found: [String] = []
        if !after(old.state.name).contains(step.state.name) {
            found.append("step \(key) went from \(old.state.name.rawValue) to \(step.state.name.rawValue)")
        }
        if let before = old.state.attempt?.number, let now = step.state.attempt?.number, now < before {
            found.append("step \(key) went back from try \(before) to \(now)")
        }
        // A clock that is set moves the time along, and changes nothing else. What a person settles after its deadline has
        // it anew.
        let isMoved = step.started != nil && [step.state.name, .unknown].contains(old.state.name)
        // What no service lets in has begun nothing.
        let isLeftOut =
            if case .waiting(_, _, let reason) = step.state {
                [.closed, .full].contains(reason.kind) && step.started == nil && job.submits[key]?.isBegun != true
            } else {
                false
            }
        if let began = old.started, step.started != began, step.state.name != .pending, !isMoved, !isLeftOut {
            found.append("step \(key) forgot when it began")
        }
        return found
    }

    /// The states that may come after one; a change within a state is always allowed.
    private static func after(_ name: StepState.Name) -> Set<StepState.Name> {
        switch name {
        case .pending: [.running, .skipped, .cancelled, .failed]
        case .running: [.running, .waiting, .unknown, .succeeded, .failed, .cancelled]
        case .waiting: [.running, .waiting, .cancelled]
        case .unknown: [.waiting, .failed, .cancelled]
        case .failed, .cancelled: [.pending]
        case .succeeded, .skipped: []
        }
    }

    private static func submitViolations(_ key: StepKey, _ new: SubmitRecord, _ old: SubmitRecord?) -> [String] {
        guard let old else { return new.phase == .intent ? [] : ["the first entry of \(key) is \(new.phase.rawValue)"] }
        guard new.generation == old.generation else { return [] }
        var found: [String] = []
        if new.key != old.key { found.append("the key of \(key) changed") }
        if !after(old.phase).contains(new.phase) {
            found.append("the submit of \(key) went from \(old.phase.rawValue) to \(new.phase.rawValue)")
        }
        if new.phase == .intent, new.sends != 0 { found.append("an intent of \(key) that was sent") }
        return found
    }

    private static func after(_ phase: SubmitRecord.Phase) -> Set<SubmitRecord.Phase> {
        switch phase {
        case .intent: [.intent, .sending]
        case .sending: [.intent, .sending, .submitted, .refused, .unknown]
        case .unknown: [.sending, .submitted, .refused, .unknown]
        case .submitted: [.submitted]
        case .refused: [.refused, .intent]
        }
    }
}
