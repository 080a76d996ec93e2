package import JSONPath

/// The time left of a whole job: the longest way through the stages that have not ended.
package struct JobEstimate: Sendable, Hashable {
    private let sketch: QuantileSketch
    /// True if an interval that it rests on is contradicted by its own history (``Estimate/isContradicted``).
    package let isContradicted: Bool

    /// Nil when nothing is known of any stage that has not ended.
    ///
    /// - Parameters:
    ///   - estimates: of stages, by id: the time left of one that runs, the whole of one that has not begun.
    ///   - heldBack: for how many seconds the rules of the background still hold a step back that does not run.
    package init?(
        _ job: JobSnapshot, plan: Plan, estimates: [String: Estimate], heldBack: (StepKey) -> Double = { _ in 0 }
    ) {
        var ways: [String: QuantileSketch] = [:]
        var isKnown = false
        for stage in plan.stages {
            let before = stage.needs.compactMap { ways[$0] }.reduce(QuantileSketch.zero) { $0.beside($1) }
            let key = StepKey(stage: stage.id)
            let state = job.steps[key]?.state
            guard state?.isEnded != true else {
                ways[stage.id] = before
                continue
            }
            let held = QuantileSketch(seconds: state?.name == .running ? 0 : heldBack(key))
            if let estimate = estimates[stage.id] {
                let own = QuantileSketch(estimate)
                // What a remote job does goes on while nobody may ask for it.
                ways[stage.id] = state == .pending ? before.beside(held) + own : (before + own).beside(held)
                isKnown = true
            } else {
                // A stage of which nothing is known counts for nothing: the job takes at least as long as is said.
                ways[stage.id] = before.beside(held)
            }
        }
        guard isKnown else { return nil }
        // A way to a stage that others need is part of theirs.
        let passed = Set(plan.stages.flatMap(\.needs))
        sketch = plan.stages.filter { !passed.contains($0.id) }.compactMap { ways[$0.id] }
            .reduce(QuantileSketch.zero) { $0.beside($1) }
        isContradicted = plan.stages.contains { stage in
            job.steps[StepKey(stage: stage.id)]?.state.isEnded != true && estimates[stage.id]?.isContradicted == true
        }
    }

    /// From the history by stage and the authors' guesses, and for steps under way from what `words` gives, or from what
    /// their services said at the last poll.
    package init?(
        _ job: JobSnapshot, plan: Plan, samples: [String: [StageSample]], at now: Timestamp,
        words: (StepKey) -> Words? = { _ in nil }, heldUntil: (StepKey) -> Timestamp? = { _ in nil },
        isPromise: Bool = false
    ) {
        var estimates: [String: Estimate] = [:]
        for stage in plan.stages {
            let step = job.steps[StepKey(stage: stage.id)]
            guard step?.state.isEnded != true else { continue }
            let outlook = StageOutlook(
                samples: samples[stage.id] ?? [], subject: stage.subject(in: job.documentScope()),
                guess: stage.estimate?.constant?.seconds)
            let elapsed = step?.started.map { max(0, (now - $0).seconds) } ?? 0
            let said = words(StepKey(stage: stage.id)) ?? step?.state.words
            // What was said was said of a moment; since then time has passed.
            let age = said.map { max(0, (now - $0.time).seconds) } ?? 0
            let spoken = said.map(\.words) ?? Estimate.Words()
            let estimate = Estimate(outlook, elapsed: max(0, elapsed - age), words: spoken)?.later(by: age)
            estimates[stage.id] = isPromise ? estimate?.promised : estimate
        }
        self.init(job, plan: plan, estimates: estimates) { key in
            let times = [heldUntil(key), job.steps[key]?.state.fixedEnd].compactMap(\.self)
            return times.map { max(0, ($0 - now).seconds) }.max() ?? 0
        }
    }

    /// The estimate that was given of a step's end, and when.
    package struct Words: Sendable {
        package let words: Estimate.Words
        package let time: Timestamp

        package init(_ words: Estimate.Words, at time: Timestamp) {
            self.words = words
            self.time = time
        }
    }

    /// The seconds left that are not exceeded with the probability.
    package func quantile(_ share: Double) -> Double { sketch.quantile(share) }

    /// The data of the job's `estimate.changed`, and the `estimate` of `show --json`.
    package var data: JSONObject { JSONObject(quantiles: quantile, isContradicted: isContradicted) }
}

extension StepState {
    /// The service's word of how long a remote job still took when it was said.
    fileprivate var words: JobEstimate.Words? {
        guard case .waiting(_, _, let reason) = self, let word = reason.foretold else { return nil }
        return JobEstimate.Words(Estimate.Words(secondsLeft: (word.end - word.said).seconds), at: word.said)
    }

    /// The time before which nothing of a step happens: one that its author gave, or the next try; nil where a remote job goes
    /// on meanwhile.
    fileprivate var fixedEnd: Timestamp? {
        guard case .waiting(_, let wake, let reason) = self else { return nil }
        switch reason.kind {
        case .time, .retry, .refused, .closed: return wake.time
        case .poll, .full, .callback, .settle, .interrupted, .noAnswer, .renewal, .secret: return nil
        }
    }
}
