import JSONPath
import PipelineCore

/// Until when what steps have is good: journaled with their ends, looked at before others begin with it, and said when a
/// service refuses it.
extension JobExecutor {
    /// Until when what a step has is good, as of its end; nil for nothing known. A mistake in "expires" is told by the
    /// stage that needs it.
    func expiry(of key: StepKey, _ state: StepState, at end: Timestamp) -> Timestamp? {
        guard case .succeeded(let captures) = state, let stage = plan.stage(key.stage) else { return nil }
        // A repeated stage has what its items have.
        if stage.forEach != nil, key.item == nil {
            return snapshot.items(of: key.stage).compactMap { snapshot.expiry($0.key)?.time }.min()
        }
        var scope = scope(for: key)
        scope.own = opened(captures)
        return (try? stage.expiry(of: scope.own, endedAt: end, in: scope)) ?? nil
    }

    /// Until when the link that an item was given is good.
    func expiry(ofItem value: JSON) -> Timestamp? {
        let opened = holdsSealed ? sealing?.opened(value) ?? value : value
        return LinkExpiry.earliest(in: opened, after: ports.clock.now)
    }

    /// Until when what a stage reads of another is good: all of it where the author said so, else the links that it reads.
    func expiry(of source: StepKey, readBy stage: PlannedStage) async throws(StageFailure) -> StepExpiry? {
        guard let planned = plan.stage(source.stage), let step = snapshot.steps[source],
            case .succeeded(let captures) = step.state, let end = step.ended
        else { return nil }
        let given = opened(captures)
        if planned.expires == nil {
            guard step.expires != nil else { return nil }
            let read = given.filter { stage.reads($0.name, of: source.stage) }
            let time = read.compactMap { LinkExpiry.earliest(in: $0.value, after: end) }.min()
            return time.map { StepExpiry(holder: source, since: end, time: $0) }
        }
        if let known = snapshot.expiry(source) { return known }
        // Nothing is journaled for it: the service named no time, or the value is a mistake, which is told here.
        let time = try await context(for: source, planned).evaluate(with: { $0.own = given }) {
            scope throws(EvaluationFailure) in
            try planned.expiry(of: given, endedAt: end, in: scope)
        }
        return time.map { StepExpiry(holder: source, since: end, time: $0) }
    }

    /// Why a step can't begin with what it reads.
    func void(_ expiry: StepExpiry, for stage: PlannedStage) -> StepFailure {
        let source = expiry.holder.stage
        if expiry.holder.item != nil, source == stage.id {
            return StepFailure(
                "the link that this item was given expired at \(expiry.time), before it could begin",
                hint: "links that live longer, or a higher \"concurrency\", let all items begin in time",
                place: stage.place)
        }
        let isUseless = stage.renews == source && expiry.time <= expiry.since
        return StepFailure(
            isUseless
                ? "what stage '\(source)' captured had expired when it ended: at \(expiry.time), "
                    + "and it ended at \(expiry.since)"
                : "what stage '\(source)' captured expired at \(expiry.time)",
            hint: isUseless
                ? "check \"expires\" of '\(source)', and the clock of this machine"
                : renewal(of: expiry.holder),
            place: stage.place)
    }

    /// A failure with what was void by then: a service mostly says no more than 403.
    func explained(_ failed: AttemptFailure, _ key: StepKey, _ stage: PlannedStage) -> AttemptFailure {
        guard let status = failed.failure.status, (400..<500).contains(status), failed.kind == .definite,
            let over = snapshot.sources(of: key, stage).compactMap(snapshot.expiry).first(where: {
                $0.time <= ports.clock.now
            })
        else { return failed }
        var failed = failed
        failed.failure.title += "; what stage '\(over.holder.stage)' captured expired at \(over.time)"
        failed.failure.hint = renewal(of: over.holder)
        return failed
    }

    private func renewal(of source: StepKey) -> String {
        let byHand = "pipeline retry \(snapshot.record.id) --from \(source.stage)"
        // Of a repeated stage no single item can be run again for others.
        return source.item == nil ? "\"renew\": \"\(source.stage)\" gets it anew; by hand: \(byHand)" : byHand
    }
}
