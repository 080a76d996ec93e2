extension JobSnapshot {
    /// Where the job stands; `isOwned` says whether a living process has it.
    public func phase(isOwned: Bool) -> JobPhase {
        let states = steps.values.map(\.state.name)
        if ended != nil { return outcome }
        if isOwned {
            if states.contains(.running) || !states.contains(.waiting) { return .running }
            return .waiting
        }
        let canGoOn = states.contains(.running) || states.contains(.waiting)
        return states.contains(.unknown) && !canGoOn ? .unknown : .suspended
    }

    /// How the job has ended, or would if nothing more began.
    public var outcome: JobPhase {
        if steps.values.contains(where: { $0.state.name == .cancelled }) { return .cancelled }
        return failure == nil ? .succeeded : .failed
    }

    /// The failure that makes the job fail: the first by time of its end, and an item's rather than that of its stage,
    /// which only follows from it.
    public var failure: (step: StepKey, failure: StepFailure)? {
        let failed = steps.compactMap { key, step -> (Timestamp, StepKey, StepFailure)? in
            guard case .failed(let failure) = step.state, !step.toleratesFailure else { return nil }
            return (step.ended ?? .epoch, key, failure)
        }
        let broken = Set(failed.lazy.filter { $0.1.item != nil }.map(\.1.stage))
        let causes = failed.filter { $0.1.item != nil || !broken.contains($0.1.stage) }
        return causes.min { ($0.0, $0.1) < ($1.0, $1.1) }.map { ($0.1, $0.2) }
    }

    /// Why the job is suspended; nil when it is owned, ended, or waits for a person to settle a submit.
    public func suspension(isOwned: Bool) -> SuspensionCause? {
        phase(isOwned: isOwned) == .suspended ? cause ?? .crashed : nil
    }
}
