/// The cost of a job in the background: its resumes, stage by stage, the delays they would get, and what would save
/// one. Predicted by entering them in a ledger in virtual time, the one that decides.
package struct BackgroundForecast: Sendable, Hashable {
    /// One resume to come.
    package struct Resume: Sendable, Hashable {
        package let reason: ResumeReason
        /// The number of times in the mean; polls are counted by their expectation, rounded up.
        package let count: Int
    }

    package struct Stage: Sendable, Hashable {
        package let id: String
        package let resumes: [Resume]
        /// By how much what follows is delayed.
        package let delay: Duration
        /// True if it waits for a good moment before it begins.
        package let isDiscretionary: Bool

        package var count: Int { resumes.reduce(0) { $0 + $1.count } }
    }

    package let budget: ResumeBudget
    package let stages: [Stage]
    /// One sentence each.
    package let advice: [String]

    package var resumes: Int { stages.reduce(0) { $0 + $1.count } }
    package var delay: Duration { stages.reduce(.zero) { $0 + $1.delay } }
}

extension BackgroundForecast {
    /// Predicts one run of a plan.
    ///
    /// - Parameters:
    ///   - budget: instead of the document's.
    ///   - ledger: as it stands now; what was used up before delays this job too.
    ///   - samples: the history by stage, for durations and polls.
    ///   - takesPushes: false where services have no address to push to: then stages with a callback poll.
    ///   - scope: the inputs and the environment, as far as they are known.
    package init(
        _ plan: Plan, budget override: ResumeBudgetDefinition? = nil, ledger start: ResumeLedger = ResumeLedger(),
        samples: [String: [StageSample]] = [:], takesPushes: Bool = true, in scope: Scope = Scope(),
        at now: Timestamp
    ) {
        let budget = ResumeBudget(override ?? plan.definition.background.budget, in: scope)
        var run = ForecastRun(
            plan: plan, budget: budget, takesPushes: takesPushes, ledger: start, scope: scope, now: now)
        var stages: [Stage] = []
        let authentications = AuthenticationForecast(plan)
        for stage in plan.stages {
            let outlook = StageOutlook(
                samples: samples[stage.id] ?? [], subject: stage.subject(in: scope),
                guess: stage.estimate?.constant?.seconds)
            stages.append(run.stage(stage, outlook, challenges: authentications.challenges(of: stage.id)))
        }
        self.budget = budget
        self.stages = stages
        advice = ForecastAdvice(stages: stages, plan: plan, authentications: authentications, budget: budget).sentences
    }
}

/// The stages one after the other, in virtual time.
private struct ForecastRun {
    let plan: Plan
    let budget: ResumeBudget
    let takesPushes: Bool
    var ledger: ResumeLedger
    let scope: Scope
    var now: Timestamp
    private let job = JobID("forecast")
    /// Until when the captures of stages are good that have had their turn.
    private var expiries: [String: StepExpiry] = [:]

    init(
        plan: Plan, budget: ResumeBudget, takesPushes: Bool, ledger: ResumeLedger, scope: Scope, now: Timestamp
    ) {
        self.plan = plan
        self.budget = budget
        self.takesPushes = takesPushes
        self.ledger = ledger
        self.scope = scope
        self.now = now
    }

    mutating func stage(
        _ stage: PlannedStage, _ outlook: StageOutlook, challenges: Int
    ) -> BackgroundForecast.Stage {
        let isLast = stage.id == plan.stages.last?.id
        var resumes: [BackgroundForecast.Resume] = []
        var delay = Duration.zero
        func add(_ reason: ResumeReason, _ count: Int = 1) {
            if count > 0 { resumes.append(.init(reason: reason, count: count)) }
        }
        let seconds = outlook.distribution?.quantile(0.5) ?? 0
        add(.authentication, challenges)
        switch stage.stage.work {
        case .local: break
        case .transfer: add(.transferEnded)
        case .wait: add(.timer)
        case .remoteJob(let submits, let isPushed):
            if submits { add(.submitAnswered) }
            let comes = isPushed && (takesPushes || stage.stage.callback == nil)
            if comes { add(.push) } else { add(.poll, Self.polls(outlook)) }
        }
        let steps = resumes.flatMap { Array(repeating: $0.reason, count: $0.count) }
        let waits = steps.filter { ![.authentication, .submitAnswered].contains($0) }.count
        for (index, reason) in steps.enumerated() {
            if reason != .authentication, reason != .submitAnswered { now += .seconds(seconds / Double(max(waits, 1))) }
            // Nothing follows the answer to a submit but a wait, and the end of the last transfer but the job's; a request
            // that needs credentials first is under way. A stage that waits is called when its time has come, the last too.
            let isUnderWay = reason == .submitAnswered || reason == .authentication
            let isFollowed = !isUnderWay && !(isLast && reason == .transferEnded)
            if index == steps.count - 1 { noteExpiry(of: stage) }
            delay += enter(reason, stage.id, isFollowed: isFollowed)
        }
        if steps.isEmpty { noteExpiry(of: stage) }
        return BackgroundForecast.Stage(
            id: stage.id, resumes: resumes, delay: delay,
            isDiscretionary: stage.isDiscretionary(in: scope)
                || budget.makesTransfersDiscretionary && stage.stage.work == .transfer)
    }

    private mutating func noteExpiry(of stage: PlannedStage) {
        guard let duration = stage.expires?.constantDuration else { return }
        expiries[stage.id] = StepExpiry(holder: StepKey(stage: stage.id), since: now, time: now + duration)
    }

    /// Before this what follows a stage must begin, since a later one reads what expires.
    private func mustBeginBy(after stage: String) -> Timestamp? {
        guard !expiries.isEmpty, let place = plan.stages.firstIndex(where: { $0.id == stage }) else { return nil }
        return plan.stages[(place + 1)...].flatMap(\.reads).compactMap { expiries[$0]?.mustActBefore }.min()
    }

    private mutating func enter(_ reason: ResumeReason, _ stage: String, isFollowed: Bool) -> Duration {
        // As many milliseconds apart as resumes are at least: those of one job never happen together.
        now += .milliseconds(1)
        let decision = ledger.enter(
            ResumeRequest(
                pipeline: plan.definition.name, job: job, step: StepKey(stage: stage), reason: reason, budget: budget,
                mustBeginBy: mustBeginBy(after: stage)), at: now)
        guard isFollowed else { return .zero }
        now = decision.start
        return decision.delay
    }

    private static func polls(_ outlook: StageOutlook) -> Int {
        let past = outlook.pastPolls
        if let past { return max(1, Int(past.rounded(.up))) }
        guard let distribution = outlook.distribution else { return 5 }
        return max(1, Int(PollPlan(distribution).expectedPolls.rounded(.up)))
    }
}

/// Requests that have to fetch a token, or that a service answers with a challenge first: one round trip more.
struct AuthenticationForecast {
    /// The stages that need one, in the plan's order: a token is shared, so that its first user fetches it for all.
    private let first: [String: Int]

    init(_ plan: Plan) {
        var seen: Set<String> = []
        var first: [String: Int] = [:]
        for stage in plan.stages {
            let tokens = stage.tokens.filter { seen.insert($0).inserted }
            if !tokens.isEmpty { first[stage.id] = tokens.count }
        }
        self.first = first
    }

    func challenges(of stage: String) -> Int { first[stage] ?? 0 }
}
