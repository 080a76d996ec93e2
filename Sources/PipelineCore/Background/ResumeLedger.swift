/// The ledger of background work: the budgets of all pipelines and the machine's, as one pure value.
///
/// The same code answers the engine (`enter`), `pipeline why` (`preview`), `pipeline budget` (`standing`) and
/// `pipeline plan --background`, which enters predicted resumes in virtual time. A crash costs nothing: the state is a
/// fold of the journal's rows.
package struct ResumeLedger: Sendable {
    private let machineBudget: ResumeBudget
    private var machine = ResumeLimiter()
    private var pipelines: [String: ResumeLimiter] = [:]
    /// The resumes that were let begin and have not begun, by pipeline: what comes within tolerance of one joins it.
    private var batches: [String: [Batch]] = [:]
    private var expected: [JobID: [ExpectedResume]] = [:]
    /// The last restart of each pipeline that was entered here, not read from another process's rows.
    private var restarts: [String: Takeover] = [:]

    /// A job that a process took up, as the first of its pipeline.
    private struct Takeover {
        let job: JobID
        let time: Timestamp
        let start: Timestamp
        /// So long a process that starts takes up jobs; what comes later lost its owner later.
        static let span = Duration.seconds(60)
    }

    /// Resumes that happen together.
    private struct Batch {
        /// Until then others were waited for.
        let moment: Timestamp
        /// The time when what follows begins: then, or after the delay.
        let start: Timestamp

        func takes(_ time: Timestamp, latest: Timestamp) -> Bool {
            moment >= time && moment <= latest || start > time && start <= latest
        }
    }

    /// The ledger after the rows, in any order.
    package init(machine budget: ResumeBudget = .machine, records: [ResumeRecord] = []) {
        machineBudget = budget
        for record in records.sorted(by: { $0.time < $1.time }) { fold(record) }
    }

    /// Takes in what was journaled, here or by another process.
    package mutating func fold(_ record: ResumeRecord) {
        switch record.charge {
        case .attended: attend(pipeline: record.pipeline)
        case .joined: break
        case .counted, .expedited:
            pipelines[record.pipeline, default: ResumeLimiter()].count(at: record.time, delay: record.delay)
            if !record.isUnlimited { machine.count(at: record.time, delay: record.machineDelay) }
            keep(Batch(moment: record.time, start: record.start), of: record.pipeline, now: record.time)
        }
    }

    /// Enters a resume and says when what follows may begin.
    package mutating func enter(_ request: ResumeRequest, at time: Timestamp) -> ResumeDecision {
        if let step = request.step { forget(job: request.job, step: step) }
        let decision = preview(request, at: time)
        fold(decision.record)
        if decision.record.charge == .counted {
            let moment = company(of: request, at: time, latest: latest(request, at: time))
            keep(Batch(moment: moment, start: decision.start), of: request.pipeline, now: time)
        }
        if request.reason == .restart, decision.record.charge != .joined {
            restarts[request.pipeline] = Takeover(job: request.job, time: time, start: decision.start)
        }
        return decision
    }

    /// Returns what ``enter(_:at:)`` would say.
    package func preview(_ request: ResumeRequest, at time: Timestamp) -> ResumeDecision {
        var record = ResumeRecord(
            time: time, pipeline: request.pipeline, job: request.job, step: request.step, reason: request.reason,
            isUnlimited: request.budget.allowance == nil)
        let latest = latest(request, at: time)
        let limiter = pipelines[request.pipeline] ?? ResumeLimiter()
        record.delay = limiter.delay(at: time, under: request.budget)
        let batch = company(of: request, restartedAt: time)
        if let batch = batch ?? company(under: record.delay, of: request, at: time, latest: latest) {
            record.charge = .joined
            record.delay = .zero
            record.start = max(time, batch.start)
            let delay = record.start > time ? " and is put off until \(record.start)" : ""
            return ResumeDecision(
                record: record, asked: time,
                rationale: "it happens together with another resume, which counts for both\(delay)")
        }
        record.machineDelay = record.isUnlimited ? .zero : machine.delay(at: time, under: machineBudget)
        let delayed = time + max(record.delay, record.machineDelay)
        record.start = max(delayed, company(of: request, at: time, latest: latest))
        var rationale = rationale(of: record, under: request.budget, used: limiter.used(at: time, of: request.budget))
        if let limit = request.mustBeginBy, record.start > limit {
            record.start = max(time, limit)
            record.charge = .expedited
            rationale =
                "it comes sooner than its delay of \(DurationText.describe(delayed - time)) allows, "
                + "since something expires at \(limit)"
        }
        return ResumeDecision(record: record, asked: time, rationale: rationale)
    }

    /// Returns whether a delay is in force that a person who waits ends: the pipeline's or the machine's.
    package func isDelayed(pipeline: String, at time: Timestamp) -> Bool {
        ![pipelines[pipeline], machine].allSatisfy { $0?.hasFallenBack(at: time) ?? true }
    }

    /// A person attends to a job of the pipeline: delays begin again, and what waits for one may begin.
    package mutating func attend(pipeline: String) {
        pipelines[pipeline]?.attend()
        batches[pipeline] = nil
        restarts[pipeline] = nil
        machine.attend()
    }

    /// Notes a resume that will come.
    package mutating func expect(_ resume: ExpectedResume) {
        forget(job: resume.job, step: resume.step)
        expected[resume.job, default: []].append(resume)
    }

    /// It comes no more.
    package mutating func forget(job: JobID, step: StepKey) {
        guard var others = expected[job] else { return }
        others.removeAll { $0.step == step }
        expected[job] = others.isEmpty ? nil : others
    }

    /// None of the job's comes any more.
    package mutating func forget(job: JobID) { expected[job] = nil }

    // MARK: Happening together

    /// A process that starts again gets control back once, however many jobs of a pipeline it takes up. A job that it
    /// takes up once more, or that another process does, is counted again: that is what damps a crash loop.
    private func company(of request: ResumeRequest, restartedAt time: Timestamp) -> Batch? {
        guard request.reason == .restart, let first = restarts[request.pipeline], first.job != request.job,
            time - first.time < Takeover.span, first.start <= request.mustBeginBy ?? first.start
        else { return nil }
        return Batch(moment: first.time, start: first.start)
    }

    /// Resumes that this one can happen with: its own pipeline's, or while its budget imposes no delay those of another
    /// pipeline of the machine, the earliest of them.
    private func company(
        under delay: Duration, of request: ResumeRequest, at time: Timestamp, latest: Timestamp
    ) -> Batch? {
        func fits(_ batch: Batch) -> Bool {
            batch.takes(time, latest: latest) && (request.mustBeginBy.map { batch.start <= $0 } ?? true)
        }
        if let own = batches[request.pipeline]?.first(where: fits) { return own }
        guard delay == .zero else { return nil }
        return batches.values.joined().filter(fits).min { ($0.start, $0.moment) < ($1.start, $1.moment) }
    }

    /// Returns how long it pays to wait for others: the intervals of all that may come within the tolerance are pierced
    /// by one point, the earliest of their ends, and what comes until then is one resume.
    private func company(of request: ResumeRequest, at time: Timestamp, latest: Timestamp) -> Timestamp {
        guard latest > time else { return time }
        let near = expected.values.lazy.joined().filter { other in
            other.due <= latest && (other.job != request.job || other.step != request.step)
        }
        let end = near.compactMap(\.latest).filter { $0 > time }.reduce(latest, min)
        // A transfer's end is unknown: it is given the whole tolerance. A timer's due time is known.
        if near.contains(where: { $0.latest == nil }) { return end }
        return near.filter { $0.due <= end }.map(\.due).max().map { max($0, time) } ?? time
    }

    private func latest(_ request: ResumeRequest, at time: Timestamp) -> Timestamp {
        min(time + request.tolerance, request.mustBeginBy ?? Timestamp(milliseconds: .max))
    }

    private mutating func keep(_ batch: Batch, of pipeline: String, now: Timestamp) {
        batches[pipeline] = (batches[pipeline] ?? []).filter { $0.start >= now } + [batch]
    }

    // MARK: Saying

    private func rationale(of record: ResumeRecord, under budget: ResumeBudget, used: Int) -> String {
        if record.machineDelay > record.delay {
            return "the machine had \(machine.used(at: record.time, of: machineBudget)) resumes in "
                + "\(DurationText.describe(machineBudget.window)), its budget is \(machineBudget.allowance ?? 0)"
        }
        if record.delay == .zero, record.start > record.time {
            return "it waits for others that are about to come, so that they are one resume"
        }
        guard let allowance = budget.allowance else { return "the budget is unlimited" }
        guard record.delay > .zero else {
            return "within the budget: \(used + 1) of \(allowance) resumes in \(DurationText.describe(budget.window))"
        }
        return allowance == 0
            ? "the budget has no free resumes"
            : "the budget of \(allowance) resumes in \(DurationText.describe(budget.window)) is used up"
    }

    /// Returns how a budget stands at a time; the machine's with no pipeline.
    package func usage(of pipeline: String?, under budget: ResumeBudget?, at time: Timestamp) -> ResumeUsage {
        let limiter = pipeline.map { pipelines[$0] ?? ResumeLimiter() } ?? machine
        let budget = budget ?? machineBudget
        return ResumeUsage(
            pipeline: pipeline, budget: budget, used: limiter.used(at: time, of: budget),
            nextDelay: limiter.delay(at: time, under: budget), fallsBack: limiter.fallBack(at: time),
            replenishesAt: limiter.replenishesAt(at: time, under: budget))
    }

    /// The pipelines that have entries.
    package var knownPipelines: [String] { pipelines.keys.sorted() }
}
