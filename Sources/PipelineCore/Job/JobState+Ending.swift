/// When an owner's work on a job ends.
extension JobState {
    mutating func begin(_ request: StopRequest) {
        // A cancellation is never weakened to a suspension; a suspension becomes a cancellation.
        if stop != .cancel, stop != .abandon { stop = request }
        if request == .abandon { rules.isFinishing = true }
        // In order of their names, so that a simulation's seed fixes what happens.
        for key in calls.keys.sorted() { commands.append(.stop(key)) }
    }

    /// Ends the owner's work when nothing runs and nothing more comes by itself; false when it goes on.
    mutating func end() throws(IllegalTransition) -> Bool {
        switch stop {
        case .suspend(let cause, let detail): commands += try JobEnding.letGo(cause, detail: detail, in: &table)
        case .leave: commands += try JobEnding.letGo(.interrupted, detail: nil, isLeft: true, in: &table)
        case .cancel, .abandon: try cancel()
        case nil:
            switch table.rest {
            case .ended(let phase):
                // Never said of a job of which something has not ended: a mistake of ours leaves it as it was committed.
                if phase == .succeeded, table.index.openMainSteps > 0 {
                    throw IllegalTransition(state: .running, event: "jobSucceeded")
                }
                commands += JobEnding.close(phase, in: &table)
            case .unknown: commands += try JobEnding.leaveUnknown(in: &table)
            case .needsResume:
                let (cause, detail) = snapshot.wantedResume
                commands += try JobEnding.letGo(cause, detail: detail, in: &table)
            case nil: return false
            }
        }
        return true
    }

    /// Cancels every step that has not ended, at its service too; the stages of `finally` run after that. A second
    /// cancellation ends them as well.
    private mutating func cancel() throws(IllegalTransition) {
        let questions = try JobEnding.cancelSteps(
            finallyToo: rules.isFinishing, tellsServices: stop != .abandon, in: &table)
        if !questions.isEmpty { return commands += questions }
        if rules.isFinishing || table.plan.finally.isEmpty {
            return commands += JobEnding.close(table.index.outcome, in: &table)
        }
        // Done as far as it was asked for: only another request ends `finally` too.
        table.record(.requested(nil))
        rules.isFinishing = true
        stop = nil
        fanOut.keepMadeOfCancelled(in: &table)
        for stage in table.plan.finally { table.withIndex { $0.look(at: stage.id) } }
        commands.append(.continue)
    }
}
