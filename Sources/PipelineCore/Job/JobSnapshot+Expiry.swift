import JSONPath

extension JobSnapshot {
    /// Before this a stage that has not begun must begin, since something that it reads expires: what the author said
    /// with `expires`, else what a captured link says itself. Nil for no such time.
    ///
    /// A while before the end, so that there is time to act; at most half of the time that it was good for.
    ///
    /// - Parameter scope: what expressions of a step may read.
    public func mustBeginBy(
        _ stage: PlannedStage, in plan: Plan, scope: (StepKey) -> Scope
    ) -> Timestamp? {
        let times = stage.reads.compactMap { source -> Timestamp? in
            let key = StepKey(stage: source)
            guard let planned = plan.stage(source), let step = steps[key], let end = step.ended,
                case .succeeded(let captures) = step.state
            else { return nil }
            if let expires = planned.expires {
                var scope = scope(key)
                scope.own = captures
                return Self.limit(before: (try? expires.time(endedAt: end, in: scope)) ?? nil, since: end)
            }
            return Self.limit(
                before: captures.compactMap { $0.value.string.flatMap(LinkExpiry.time) }.min(), since: end)
        }
        return times.min()
    }

    private static func limit(before expiry: Timestamp?, since start: Timestamp) -> Timestamp? {
        expiry.map { $0 - min(margin, .milliseconds(Int64(max(0, ($0 - start).seconds) * 500))) }
    }

    private static let margin = Duration.seconds(60)

    /// The earliest of these times over all stages that are still to begin.
    public func mustActBefore(in plan: Plan, scope: (StepKey) -> Scope) -> Timestamp? {
        plan.stages.filter { steps[StepKey(stage: $0.id)]?.state == .pending }
            .compactMap { mustBeginBy($0, in: plan, scope: scope) }.min()
    }
}
