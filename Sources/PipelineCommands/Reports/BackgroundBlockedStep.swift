import JSONPath
import PipelineCore
import PipelineKit

/// The judgement of the rules of the background of one job at this moment: the ledger, and for each step that waits
/// what its next resume would get, or which policies hold it back. From the code that the engine decides by.
struct BackgroundBlockedStep {
    /// The rule that holds one step.
    private struct Held {
        let step: StepKey
        /// The decision that the ledger would take of the step's next resume.
        let next: ResumeDecision?
        /// The judgement whether the moment is good; nil for a step that asks for none.
        let moment: ConditionEvaluation?
        /// Until when what follows its last resume was put off, and why.
        let deferral: Deferral?
    }

    private let usage: ResumeUsage
    private let held: [Held]
    private let now: Timestamp

    /// - Parameter events: the job's last ones.
    init(
        _ job: JobSnapshot, plan: Plan, ledger: ResumeLedger, events: [JobEvent], at now: Timestamp,
        judge: (ConditionQuestion) async -> ConditionEvaluation
    ) async {
        let budget = ResumeBudget(plan.definition.background.budget, in: job.documentScope())
        usage = ledger.usage(of: job.record.pipeline, under: budget, at: now)
        // Without secrets: what is made from one counts as not known.
        var table = job.table(in: plan, at: now)
        var held: [Held] = []
        for (key, step) in job.steps.sorted(by: { $0.key < $1.key }) where !step.state.isEnded {
            var moment: ConditionEvaluation?
            if let stage = plan.stage(key.stage),
                Self.asksMoment(key, step, stage, job, scope: table.currentScope(for: key))
            {
                let limit = job.mustBeginBy(key, in: plan)
                moment = await judge(job.momentQuestion(for: stage, budget: budget, mustBeginBy: limit))
            }
            let limit = table.mustResumeBy(key)
            let next = Self.request(key, step, job, budget, before: limit).map { ledger.preview($0, at: now) }
            let deferral = events.deferral(of: key, at: now)
            if let deferral { moment = moment?.askedAgain(at: deferral.until) }
            if next == nil, moment == nil, deferral == nil { continue }
            held.append(Held(step: key, next: next, moment: moment, deferral: deferral))
        }
        self.held = held
        self.now = now
    }

    /// A discretionary step whose needs have ended waits for a good moment.
    private static func asksMoment(
        _ key: StepKey, _ step: StepRecord, _ stage: PlannedStage, _ job: JobSnapshot,
        scope: @autoclosure () -> Scope
    ) -> Bool {
        guard step.state == .pending, stage.isDiscretionary(in: scope()),
            stage.forEach == nil || key.item != nil
        else {
            return false
        }
        return stage.needs.allSatisfy { job.steps[StepKey(stage: $0)]?.state.isEnded == true }
    }

    private static func request(
        _ key: StepKey, _ step: StepRecord, _ job: JobSnapshot, _ budget: ResumeBudget, before limit: Timestamp?
    ) -> ResumeRequest? {
        guard case .waiting(_, _, let reason) = step.state else { return nil }
        return ResumeRequest(
            pipeline: job.record.pipeline, job: job.record.id, step: key, reason: ResumeReason(endOf: reason.kind),
            budget: budget, mustBeginBy: limit)
    }

    /// For people.
    var lines: [String] {
        let window = DurationText.describe(usage.budget.window)
        let used = usage.budget.allowance.map { "\(usage.used) of \($0)" } ?? "\(usage.used)"
        var ledger = "in the background: \(used) resumes in \(window)"
        if usage.budget.allowance == nil { ledger += ", the budget is unlimited" }
        if usage.nextDelay > .zero {
            ledger += "; the next one is delayed by \(DurationText.describe(usage.nextDelay))"
        }
        return [ledger] + held.flatMap { lines($0) }
    }

    private func lines(_ held: Held) -> [String] {
        var lines: [String] = []
        if let deferral = held.deferral {
            lines.append(
                "\(held.step): what follows is put off until \(TimeText(now: now).clock(deferral.until)): \(deferral.reason)"
            )
        }
        if let next = held.next {
            let delay = next.isDeferred ? "delayed by \(DurationText.describe(next.delay))" : "not delayed"
            lines.append(
                "\(held.step): when \(next.record.reason.sentence), what follows is \(delay): \(next.rationale)")
        }
        if let moment = held.moment {
            lines.append("\(held.step): \(moment.isGood ? "the moment is good" : "it waits for a good moment")")
            lines += moment.lines.map { "  \($0)" }
        }
        return lines
    }

    /// The member `background` of `why --json`: durations in seconds.
    var json: JSON {
        [
            "ledger": usage.json,
            "steps": .array(
                held.map { held in
                    [
                        "stage": .string(held.step.stage),
                        "item": held.step.item.map { .number(JSONNumber($0)) } ?? .null,
                        "deferred": held.deferral.map {
                            ["until": .string($0.until.description), "reason": .string($0.reason)]
                        }
                            ?? .null,
                        "next": held.next.map(Self.json) ?? .null, "moment": held.moment?.json ?? .null,
                    ]
                }),
        ]
    }

    private static func json(_ next: ResumeDecision) -> JSON {
        [
            "reason": .string(next.record.reason.rawValue), "delay": .number(JSONNumber(next.delay.seconds)),
            "start": .string(next.start.description), "rationale": .string(next.rationale),
        ]
    }
}
