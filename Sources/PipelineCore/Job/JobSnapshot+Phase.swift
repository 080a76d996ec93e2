extension JobSnapshot {
    /// The cost of its steps, in the author's currency; nil when the document does not say.
    package var cost: Double? {
        let costs = steps.values.compactMap(\.cost)
        return costs.isEmpty ? nil : costs.reduce(Amount(0)) { $0 + Amount($1) }.double
    }

    /// Body bytes of all its steps.
    package var moved: BytesMoved {
        steps.values.reduce(BytesMoved()) { $0 + BytesMoved(sent: $1.bytesSent, received: $1.bytesReceived) }
    }

    /// Returns where the job stands; `isOwned` says whether a living process has it.
    package func phase(isOwned: Bool) -> JobPhase {
        if ended != nil { return outcome }
        if let batch { return isOwned ? .running : batch.outcome == .unknown ? .unknown : .suspended }
        if isOwned { return request == .cancel || steps.areAtWork ? .running : .waiting }
        let states = steps.workingStates
        let canGoOn = states.contains(.running) || states.contains(.waiting)
        return states.contains(.unknown) && !canGoOn ? .unknown : .suspended
    }

    /// The way in which the job has ended, or would if nothing more began.
    package var outcome: JobPhase {
        if let batch { return batch.outcome ?? .cancelled }
        if steps.values.contains(where: { $0.state.name == .cancelled }) { return .cancelled }
        return failure == nil ? .succeeded : .failed
    }

    /// The failure that makes the job fail: the first by time of its end. An item's is its stage's matter, which fails
    /// once too many have.
    package var failure: (step: StepKey, failure: StepFailure)? {
        let failed = steps.compactMap { key, step -> (ended: Timestamp, began: Timestamp, StepKey, StepFailure)? in
            guard key.item == nil, case .failed(let failure) = step.state, !step.toleratesFailure else { return nil }
            return (step.ended ?? .epoch, step.started ?? step.ended ?? .epoch, key, failure)
        }
        // What follows another one item by item fails in the same moment, and began later.
        return failed.min { ($0.ended, $0.began, $0.2) < ($1.ended, $1.began, $1.2) }.map { ($0.2, $0.3) }
    }

    /// True for a job or a batch of the background that was handed over, or let go in order, and that nobody has taken up: it goes on
    /// by itself as soon as the background owner or a worker looks, and no person needs to resume it.
    package var isQueued: Bool {
        mode == .background && release != nil && cause == nil && phase(isOwned: false) == .suspended
    }

    /// True if the background owner, or any worker, takes the job up without being told, once nobody has it. What is
    /// unknown waits for a person, unless that person wants it cancelled.
    package var goesOnByItself: Bool {
        guard ended == nil, mode == .background, request == .cancel || phase(isOwned: false) != .unknown else {
            return false
        }
        return switch cause {
        case nil, .noNetwork, .secret, .crashed, .extension: true
        case .paused, .interrupted, .tooManyFailures, .sameFailure, .spent: request == .cancel
        }
    }

    /// Returns why the job is suspended; nil when it is owned, ended, or waits for a person to settle a submit.
    package func suspension(isOwned: Bool) -> SuspensionCause? {
        phase(isOwned: isOwned) == .suspended ? cause ?? (release == nil ? .crashed : .interrupted) : nil
    }
}

extension [StepKey: StepRecord] {
    /// The states of the steps that do something themselves. A repeated stage does not, and is running until the last of
    /// its items is done: its items do.
    private var working: some Sequence<StepState> {
        let repeated = Set(keys.lazy.filter { $0.item != nil }.map(\.stage))
        return lazy.filter { $0.key.item != nil || !repeated.contains($0.key.stage) }.map(\.value.state)
    }

    fileprivate var workingStates: Set<StepState.Name> { Set(working.lazy.map(\.name)) }

    /// True if something is done for the job at this moment: a call of a stage runs, or nothing is left but to end it. What
    /// the rules of the background hold back between two stages waits.
    fileprivate var areAtWork: Bool {
        let states = workingStates
        return states.contains(.running) || !states.contains(.waiting) && !states.contains(.pending)
    }

    /// True if all that is under way waits for a place that a service has for its remote jobs: nothing of it runs.
    package var waitForPlaceAlone: Bool {
        // What is unknown waits for a person, and for nothing here.
        let active = working.filter { $0.name == .running || $0.name == .waiting }
        return !active.isEmpty && active.allSatisfy(\.waitsForPlace)
    }
}

extension JobSnapshot {
    /// The latest time that is kept of a step under way; nil where there is none.
    var latestActivity: Timestamp? {
        steps.compactMap { key, step -> Timestamp? in
            guard let attempt = step.state.attempt else { return nil }
            return [step.started, attempt.failingSince, submits[key]?.lastSent].compactMap { $0 }.max()
        }.max()
    }
}

extension JobSnapshot {
    /// True if the next call of a step sends or reconciles a submit: it asks nothing of the remote job yet, and what the
    /// submit gives is not known.
    package func awaitsSubmit(of step: StepKey, in plan: Plan) -> Bool {
        guard case .remoteJob(submits: true, _)? = plan.stage(step.stage)?.stage.work else { return false }
        return submits[step]?.phase != .submitted
    }
}
