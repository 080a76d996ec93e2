import JSONPath

/// Captures that are no longer good, and the stages that give fresh ones.
///
/// The stage that gives them is made pending before the one that waits is parked: after a crash between the two the
/// waiting one is held until the other has ended, as without a crash.
enum Renewal {
    /// Returns whether a failed attempt is worth another one with fresh captures. One that was refused is once, until bytes
    /// have moved again; where what it was refused with had expired meanwhile, as often as `retry` allows.
    static func isWorthIt(
        _ failed: AttemptFailure, _ key: StepKey, _ stage: PlannedStage, in table: JobTable
    ) -> Bool {
        guard let source = stage.renews, let attempt = table.step(key)?.state.attempt else { return false }
        if failed.kind == .held(.renewal) { return attempt.unsent < table.policy(of: key, stage).attempts }
        guard let status = failed.failure.status else { return false }
        let now = table.moment.time
        let isOver = table.snapshot.expiry(StepKey(stage: source)).map { $0.time <= now } ?? false
        guard failed.failure.saysVoid || isOver && (400..<500).contains(status) else { return false }
        let most = isOver ? max(1, table.policy(of: key, stage).attempts - 1) : 1
        return attempt.renewals < most || failed.progressed
    }

    /// Parks a step until the stage that it names has run again.
    ///
    /// - Parameter began: when the failed attempt began: captures that are newer than that are fresh already.
    static func begin(
        _ key: StepKey, _ stage: PlannedStage, _ failure: StepFailure, began: Timestamp, _ notes: StepNotes,
        in table: inout JobTable
    ) throws(IllegalTransition) {
        guard let source = stage.renews else { return }
        if let step = table.step(StepKey(stage: source)), step.state.name == .succeeded,
            step.ended.map({ $0 <= began }) ?? true
        {
            try runAgain(source, in: &table)
        }
        try table.change(key, .renewed(failure), notes: notes)
        Restart.reopenSubmit(of: key, in: &table)
    }

    /// Has what has expired made anew for a step that was to begin with it; false where its stage does not say by which, or
    /// that had given it when it was over.
    static func getsAnew(
        _ expiry: StepExpiry, for key: StepKey, _ stage: PlannedStage, in table: inout JobTable
    ) throws(IllegalTransition) -> Bool {
        guard let source = stage.renews else { return false }
        if expiry.holder == key {
            // The item's own link, of the elements that the source gives.
            guard stage.renewsElements, let step = table.step(StepKey(stage: source)),
                step.state.name == .succeeded || !step.state.isEnded, step.ended.map({ $0 < expiry.time }) ?? true
            else { return false }
        } else {
            guard mayRenew(expiry, stage) else { return false }
        }
        try runAgain(source, in: &table)
        table.withIndex { $0.putBack(key, limit: nil) }
        return true
    }

    /// Returns why a step can't go on after a wait; nil when it can, or is parked for fresh captures.
    static func failure(
        of key: StepKey, after reason: WaitReason, in table: inout JobTable
    ) throws(IllegalTransition) -> StepFailure? {
        if let missing = sourceFailure(of: key, after: reason, in: table) { return missing }
        guard reason.kind.sendsAnew, let stage = table.plan.stage(key.stage),
            let over = expiry(before: key, stage, in: table)
        else { return nil }
        let failure = table.void(over, for: stage)
        guard mayRenew(over, stage) else { return failure }
        try begin(key, stage, failure, began: table.moment.time, StepNotes(), in: &table)
        return nil
    }

    /// Returns what has expired of all that a transfer under way goes on with: it is no better than for one that begins.
    ///
    /// Not for one that stands alone by now, nor for one whose submit is open: what became of that is to be found out.
    private static func expiry(before key: StepKey, _ stage: PlannedStage, in table: JobTable) -> StepExpiry? {
        guard case .transfer = stage.stage.work, stage.forEach == nil || key.item != nil, let step = table.step(key),
            table.snapshot.submits[key]?.isBegun != true
        else { return nil }
        if let checkpoint = step.checkpoint, stage.stage.standsAlone?(checkpoint) == true { return nil }
        return table.snapshot.sources(of: key, stage).lazy.compactMap { table.expiry(of: $0, readBy: stage) }
            .first { $0.time <= table.moment.time }
    }

    /// Returns whether the stage that gave what has expired runs again for a step; not where it had given it when it was
    /// over.
    private static func mayRenew(_ expiry: StepExpiry, _ stage: PlannedStage) -> Bool {
        expiry.holder.stage == stage.renews && expiry.time > expiry.since
    }

    /// Until when what a step gets by `renew` is good, and whose it is; nil where nothing says, or it was over when it came:
    /// no fresh one would be better.
    static func expiry(for key: StepKey, _ stage: PlannedStage, in table: JobTable) -> StepExpiry? {
        guard let source = stage.renews else { return nil }
        let own = stage.renewsElements ? table.step(key)?.value.flatMap(table.expiry(ofItem:)) : nil
        let given = table.expiry(of: StepKey(stage: source), readBy: stage).flatMap { $0.time > $0.since ? $0 : nil }
        let item = own.map { StepExpiry(holder: key, since: table.moment.time, time: $0) }
        return [given, item].compactMap(\.self).min { $0.time < $1.time }
    }

    /// The urgency of the requests of a step that is called, after a wait where there was one.
    static func urgency(of key: StepKey, after reason: WaitReason?, in table: JobTable) -> Urgency {
        if reason?.kind == .renewal { return .renewed }
        return table.index.renewed.contains(key.stage) ? .renewal : .usual
    }

    /// Makes a stage that has succeeded pending again, for fresh captures.
    static func runAgain(_ source: String, in table: inout JobTable) throws(IllegalTransition) {
        let key = StepKey(stage: source)
        guard let stage = table.plan.stage(source), table.step(key)?.state.name == .succeeded else { return }
        table.keepCaptures(whileRenewing: source)
        try table.change(key, .renewing) { step in
            if !stage.keepsSubmit {
                // What it gave is there for the stages that clean up until the fresh has come.
                let former = step.captures
                step = step.restarted()
                step.captures = former
            }
            step.started = nil
            step.ended = nil
            step.expires = nil
        }
        // Its author wants it sent again: the key of the first would only bring the first response.
        if !stage.keepsSubmit { Restart.renewSubmit(of: key, in: &table) }
    }

    /// Returns why a step can't go on whose captures did not come; nil when it can.
    private static func sourceFailure(
        of key: StepKey, after reason: WaitReason, in table: JobTable
    ) -> StepFailure? {
        guard let stage = table.plan.stage(key.stage), stage.forEach == nil || key.item != nil else { return nil }
        let lacking = stage.needs.first { source in
            guard stage.goesOn(with: source), let step = table.step(StepKey(stage: source)) else { return false }
            if stage.renews == source, reason.kind == .renewal { return step.state.name != .succeeded }
            switch step.state {
            // It had ended when the step began, and does not begin again: else the step were held.
            case .pending: return !table.index.renewed.contains(source)
            case .failed: return !step.toleratesFailure
            case .cancelled: return true
            case .running, .waiting, .unknown, .succeeded, .skipped: return false
            }
        }
        return lacking.map { source in
            StepFailure("stage '\(source)', which was to give fresh captures, did not succeed", place: stage.place)
        }
    }
}

extension Freshness {
    /// The time for which what a step gets by `renew` is good, as it is when it is called. For one that is not called, but
    /// cancelled, nothing is renewed.
    package init(of key: StepKey, _ stage: PlannedStage, in state: JobState) {
        let call = state.calls[key]
        let expiry = call.flatMap { _ in Renewal.expiry(for: key, stage, in: state.table) }
        self.init(expiry, of: call.flatMap { _ in stage.renews }, urgency: call?.urgency ?? .usual)
    }
}

/// What has expired, said when a step can't begin with it or a service refuses it.
extension JobTable {
    /// The link that an item was given, if it has expired before the item could begin.
    func ownExpiry(of key: StepKey) -> StepExpiry? {
        guard key.item != nil, let own = snapshot.pressing(key, in: plan), own.holder == key, own.time <= moment.time
        else { return nil }
        return own
    }

    /// Until when what a stage reads of another's step is good, as it is journaled: all of it where the author said so, else
    /// the links that are read.
    func expiry(of source: StepKey, readBy reader: PlannedStage) -> StepExpiry? {
        guard let stage = plan.stage(source.stage), let step = step(source) else { return nil }
        return stage.expiry(of: source, step, readBy: reader, values)
    }

    /// Returns why a step can't begin with what it reads.
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
                $0.time <= moment.time
            })
        else { return failed }
        var failed = failed
        failed.failure.title += "; what stage '\(over.holder.stage)' captured expired at \(over.time)"
        failed.failure.hint = renewal(of: over.holder)
        return failed
    }

    private func renewal(of source: StepKey) -> String {
        var byHand = "pipeline retry \(snapshot.record.id) --from \(source.stage)"
        // What "renew" asks for the command orders once more.
        if snapshot.submits[source]?.isBegun == true { byHand += ", which submits it once more" }
        // Of a repeated stage no single item can be run again for others.
        return source.item == nil ? "\"renew\": \"\(source.stage)\" gets it anew; by hand: \(byHand)" : byHand
    }
}

extension StepFailure {
    /// True for a status by which services say that a link or a token is no longer good.
    package var saysVoid: Bool { status.map([401, 403, 404, 410].contains) == true }
}
