package import PipelineCore

extension SuspensionCause {
    /// The cause in words.
    package var explanation: String {
        switch self {
        case .interrupted: "interrupted"
        case .paused: "paused"
        case .noNetwork: "no answer from the network"
        case .crashed: "its process ended without a word"
        case .secret: "a secret is missing"
        case .extension: "the background owner does not know all that its document names"
        case .tooManyFailures: "more items failed than are tolerated"
        case .spent: "more would cost more than it may spend"
        case .sameFailure: "the last items all failed alike"
        }
    }
}

extension Array<JobEvent> {
    /// What was said of the last suspension besides its cause; nil when nothing was.
    package var suspensionDetail: String? { last { $0.kind == .jobSuspended }?.data["detail"]?.string }
}

extension WaitReason.Kind {
    /// The end of the waiting, before a time.
    package var verb: String {
        switch self {
        case .poll: "asks again"
        case .retry, .refused: "tries again"
        case .settle, .full: "looks again"
        case .time, .closed, .callback, .interrupted, .noAnswer, .renewal, .secret: "goes on"
        }
    }
}

extension JobSnapshot {
    /// The steps by the order of their stages, and those of others after them.
    package func steps(inOrder stages: [String]) -> [(StepKey, StepRecord)] {
        let places = Dictionary(zip(stages, 0...), uniquingKeysWith: { first, _ in first })
        return steps.map { (places[$0.key.stage] ?? .max, $0.key, $0.value) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.1, $0.2) }
    }

    /// The wait of a step that ends first, its time nil where it is no time that ends any; nil where no step waits.
    package var nextWait: (time: Timestamp?, reason: WaitReason)? {
        steps.values.compactMap { step -> (time: Timestamp?, reason: WaitReason)? in
            guard case .waiting(_, let wake, let reason) = step.state else { return nil }
            return (wake.time, reason)
        }.min { ($0.time?.milliseconds ?? .max) < ($1.time?.milliseconds ?? .max) }
    }

    /// The steps that failed without failing the job (`continueOnFailure`), in order; an item rather than its stage.
    package var toleratedFailures: [(step: StepKey, failure: StepFailure)] {
        guard failure == nil else { return [] }
        let failed = steps.compactMap { key, step -> (step: StepKey, failure: StepFailure)? in
            guard case .failed(let failure) = step.state else { return nil }
            return (key, failure)
        }
        let repeated = Set(failed.lazy.filter { $0.step.item != nil }.map(\.step.stage))
        return failed.filter { $0.step.item != nil || !repeated.contains($0.step.stage) }
            .sorted { $0.step < $1.step }
    }
}
