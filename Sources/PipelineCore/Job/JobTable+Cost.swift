import JSONPath

extension StepEnd {
    /// Returns whether the step costs something should it end although the call brought no result.
    ///
    /// - Parameters:
    ///   - isServed: true if the service has done what it was asked for, and what it said can't be used.
    ///   - isOrdered: true if it has accepted a submit of the step.
    package func isPaid(isServed: Bool, isOrdered: Bool) -> Bool {
        switch self {
        case .finished, .waiting, .stopped: false
        case .unknown: isServed
        case .failed(let failed): isServed || isOrdered || failed.endsRemoteJob
        }
    }
}

extension JobTable {
    /// Adds what of a cost was not paid before to a step that has come to rest without a result. What was ordered under a key
    /// is paid once, also where its end is judged again, as after a `resume` that asks for the same remote job.
    ///
    /// - Parameter isOver: true if what is ordered next is another job, under a key of its own.
    mutating func charge(_ cost: Double?, for key: StepKey, _ stage: PlannedStage, isOver: Bool = false) {
        guard let cost, let more = unpaid(cost, of: key) else { return }
        edit(key) { $0.add(cost: more) }
        // What begins no job of its own asks for the same one again.
        guard let order = order(of: key, stage), !isOver || snapshot.submits[key] == nil else { return }
        record(.fact(order, .number(JSONNumber(cost))))
    }

    /// Returns what of the cost of a step was not paid before; nil for none.
    func unpaid(_ cost: Double?, of key: StepKey) -> Double? {
        guard let cost, let stage = plan.stage(key.stage), let order = order(of: key, stage) else { return cost }
        return unpaid(cost, of: order)
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
