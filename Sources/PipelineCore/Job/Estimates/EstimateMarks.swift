import JSONPath

/// The memory that a job has of its steps under way, so that estimates can be made and judged: dropped with a step's
/// end.
package struct EstimateMarks: Sendable {
    /// The samples of the job's pipeline, by stage, as they were when it was taken up.
    package var samples: [String: [StageSample]] = [:]
    /// The marks of each step.
    package var steps: [StepKey: Mark] = [:]

    /// The knowledge of one step's wait.
    package struct Mark: Sendable {
        /// Since when it is outside or waits.
        package var since: Timestamp
        /// The time when it was last known not to have ended.
        package var lastRunning: Timestamp?
        /// The number of polls that it was woken for.
        package var polls = 0
        /// True once its duration was foretold: what is known later its polls tell.
        package var isForetold = false
        /// The durations that were foretold when it began: the quantiles 0.5 and 0.9 of its duration, in seconds.
        package var p50: Double?
        package var p90: Double?
        package var report: StepNotes.FirstReport?
        package var words: JobEstimate.Words?
        /// The time when the service says that it ended.
        package var ended: Timestamp?

        package init(since: Timestamp) { self.since = since }

        fileprivate mutating func setClock(by shift: Duration) {
            since += shift
            lastRunning = lastRunning.map { $0 + shift }
            report = report.map {
                StepNotes.FirstReport(time: $0.time + shift, secondsLeft: $0.secondsLeft, share: $0.share)
            }
            words = words.map { JobEstimate.Words($0.words, at: $0.time + shift) }
        }
    }

    package init() {}

    mutating func note(_ notes: StepNotes, of key: StepKey) {
        guard notes.words != nil || notes.report != nil || notes.ended != nil else { return }
        if let ended = notes.ended { steps[key]?.ended = ended }
        if let words = notes.words { steps[key]?.words = words }
        if let report = notes.report, steps[key]?.report == nil { steps[key]?.report = report }
    }

    /// Moves what is remembered along with a clock that was set by so much.
    mutating func setClock(by shift: Duration) {
        for key in steps.keys { steps[key]?.setClock(by: shift) }
    }

    mutating func begin(_ key: StepKey, at time: Timestamp) {
        if steps[key] == nil { steps[key] = Mark(since: time) } else { steps[key]?.since = time }
    }

    /// The step waits from now on; before a poll it was found running.
    mutating func waits(_ key: StepKey, _ reason: WaitReason, at time: Timestamp) {
        begin(key, at: time)
        if reason.kind == .poll, !reason.isTrouble { steps[key]?.lastRunning = time }
    }

    /// A poll was answered and found the job running.
    mutating func polled(_ key: StepKey, at time: Timestamp) {
        steps[key]?.polls += 1
        steps[key]?.lastRunning = time
    }

    /// For how long the step has been outside.
    func waited(_ key: StepKey, at time: Timestamp) -> Duration { steps[key].map { time - $0.since } ?? .zero }

    /// Returns what is known of a step's duration before it begins, as a closure that makes it: that takes a look at a
    /// hundred samples, and most steps never ask.
    ///
    /// - Parameter latest: gives it from the samples of the stage at the time of the call, for a kind and service, a size, and
    ///   the author's guess in seconds; where it gives nil, it is made from those of the job's start.
    package func outlook(
        of key: StepKey, _ stage: PlannedStage, in table: JobTable,
        latest: (@Sendable (_ subject: String?, _ size: Double?, _ guess: Double?) -> StageOutlook?)? = nil
    ) -> @Sendable () -> StageOutlook {
        let guess = stage.estimate.flatMap { estimate in
            estimate.constant ?? (try? estimate.value(in: table.currentScope(for: key)))
        }?.seconds
        let subject = stage.subject(in: table.snapshot.documentScope())
        let size = Self.size(before: key, stage, table)
        let known = samples[key.stage] ?? []
        return {
            latest?(subject, size, guess)
                ?? StageOutlook(samples: known, subject: subject, size: size, guess: guess)
        }
    }

    /// The size of what a remote job is about, as far as it can be seen: the bytes that its job has sent before.
    private static func size(before key: StepKey, _ stage: PlannedStage, _ table: JobTable) -> Double? {
        guard case .remoteJob = stage.stage.work else { return nil }
        let sent = table.index.sentBytes - (table.index.entries[key.stage]?.sentBytes ?? 0)
        return sent > 0 ? Double(sent) : nil
    }

    /// Foretells how long a step will take that begins, and how long the job still will.
    mutating func foretell(
        _ key: StepKey, _ stage: PlannedStage, in table: JobTable, _ watch: ResumeWatch
    ) -> [JobEvent] {
        guard steps[key]?.isForetold != true, isWorthTelling(key, stage), table.step(key)?.attempts ?? 0 <= 1
        else { return [] }
        let now = table.moment.time
        let elapsed = now.seconds(since: table.step(key)?.started ?? now)
        guard let estimate = Estimate(outlook(of: key, stage, in: table)(), elapsed: elapsed) else { return [] }
        let (p50, p90) = (estimate.quantile(0.5), estimate.quantile(0.9))
        steps[key]?.isForetold = true
        if elapsed < 1 {
            steps[key]?.p50 = p50
            steps[key]?.p90 = p90
        }
        let whole = jobEstimate(of: table, watch).map { Self.event($0.data, of: nil, table) }
        return [Self.event(estimate.data { $0 == 0.5 ? p50 : $0 == 0.9 ? p90 : estimate.quantile($0) }, of: key, table)]
            + (whole.map { [$0] } ?? [])
    }

    /// Nobody waits for what takes less than half a second.
    private func isWorthTelling(_ key: StepKey, _ stage: PlannedStage) -> Bool {
        let last = (samples[key.stage] ?? []).suffix(3)
        return last.isEmpty ? stage.estimate != nil : last.contains { $0.seconds >= 0.5 }
    }

    private static func event(_ data: JSONObject, of step: StepKey?, _ table: JobTable) -> JobEvent {
        JobEvent(
            sequence: nil, time: table.moment.time, kind: .estimateChanged, job: table.snapshot.record.id,
            pipeline: table.snapshot.record.pipeline, step: step, attempt: step.flatMap { table.step($0)?.attempts },
            data: data)
    }

    /// The time left of the whole job. As a promise it moves when something is known again, not as time passes.
    func jobEstimate(of table: JobTable, _ watch: ResumeWatch, isPromise: Bool = false) -> JobEstimate? {
        JobEstimate(
            table.snapshot, plan: table.plan, samples: samples, at: table.moment.time, words: { steps[$0]?.words },
            heldUntil: watch.held, isPromise: isPromise)
    }

    /// Returns what a step that has just succeeded adds to the history; nil for one that says nothing about the next:
    /// one that was tried again, a whole of many items, or one that another process began.
    mutating func takeSample(of key: StepKey, in table: JobTable) -> StageSample? {
        defer { steps[key] = nil }
        let noticed = table.moment.time
        guard let step = table.step(key), step.state.name == .succeeded, let began = step.started,
            let mark = steps[key], step.attempts <= 1, let stage = table.plan.stage(key.stage)
        else { return nil }
        // A service's clock may be another one: its word counts within what was seen here.
        let stated = mark.ended.flatMap { $0 > began && $0 <= noticed ? $0 : nil }
        let now = stated ?? noticed
        let left = mark.report.map { max((now - $0.time).seconds, 0.01) }
        let passed = mark.report.map { ($0.time - began).seconds } ?? 0
        let isRemote = if case .remoteJob = stage.stage.work { true } else { false }
        var sample = StageSample(
            pipeline: table.snapshot.record.pipeline, stage: key.stage, ended: now,
            seconds: now.seconds(since: began),
            earliest: (stated ?? mark.lastRunning).map { $0.seconds(since: began) } ?? 0,
            size: Self.size(before: key, stage, table), polls: mark.polls, resumes: step.resumes,
            bytes: isRemote ? 0 : step.bytesSent + step.bytesReceived, p50: mark.p50, p90: mark.p90,
            remainingError: left.flatMap { left in
                mark.report?.secondsLeft.map { Normal.logarithm(left / max($0, 0.05)) }
            },
            progressError: left.flatMap { left in
                mark.report?.share.flatMap { share in
                    share > 0.02 && share < 1 && passed > 0
                        ? Normal.logarithm(left / (passed * (1 - share) / share)) : nil
                }
            })
        sample.subject = stage.subject(in: table.snapshot.documentScope())
        return sample
    }

    /// Returns what a remote job that has not ended tells others of its stage: it takes longer than until the last
    /// poll. Nil when that is nothing.
    package func runningSample(of key: StepKey, in table: JobTable) -> StageSample? {
        guard let step = table.step(key), !step.state.isEnded, step.attempts <= 1, let began = step.started,
            let last = steps[key]?.lastRunning, last > began, let stage = table.plan.stage(key.stage),
            case .remoteJob = stage.stage.work
        else { return nil }
        var sample = StageSample(
            pipeline: table.snapshot.record.pipeline, stage: key.stage, ended: last, seconds: (last - began).seconds,
            size: Self.size(before: key, stage, table))
        sample.subject = stage.subject(in: table.snapshot.documentScope())
        sample.isRunning = true
        return sample
    }
}
