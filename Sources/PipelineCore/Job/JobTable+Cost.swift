import JSONPath

extension StepEnd {
    /// Returns whether the step costs something although the call that ended brought no result: its remote job is over, or
    /// the service has done what it was asked for, and what it said can't be used.
    package func isPaid(isServed: Bool) -> Bool {
        switch self {
        case .finished, .waiting, .stopped: false
        case .unknown: isServed
        case .failed(let failed): isServed || failed.endsRemoteJob
        }
    }
}

extension JobTable {
    /// Returns the notes with what of their cost was not paid before. What was ordered under a key is paid once, also where
    /// its end is judged again, as after a `resume` that asks for the same remote job.
    ///
    /// - Parameter isOver: true if what is ordered next is another job, under a key of its own.
    mutating func unpaid(
        _ notes: StepNotes, of key: StepKey, _ stage: PlannedStage, isOver: Bool = false
    ) -> StepNotes {
        guard let cost = notes.cost, let order = order(of: key, stage) else { return notes }
        var notes = notes
        notes.cost = unpaid(cost, of: order)
        // What begins no job of its own asks for the same one again.
        if !isOver || snapshot.submits[key] == nil { record(.fact(order, .number(JSONNumber(cost)))) }
        return notes
    }

    /// Returns what of the cost of a step that has succeeded was not paid before.
    func unpaid(_ cost: Double, of key: StepKey, _ stage: PlannedStage) -> Double {
        order(of: key, stage).map { unpaid(cost, of: $0) } ?? cost
    }

    private func unpaid(_ cost: Double, of order: Fact) -> Double {
        (Amount(cost) - Amount(snapshot.facts[order]?.number?.double ?? 0)).double
    }

    /// What the step has ordered; nil where each request is an order of its own.
    private func order(of key: StepKey, _ stage: PlannedStage) -> Fact? {
        if let submit = snapshot.submits[key] { return .paid(key: submit.key) }
        guard case .remoteJob = stage.stage.work else { return nil }
        return .paid(key: SubmitRecord(of: snapshot.record.submitName(of: key)).key)
    }
}
