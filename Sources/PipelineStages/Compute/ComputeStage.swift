import JSONPath
import PipelineCore
import PipelineHTTP

/// Submits a remote job through the ledger and watches it. Each call makes at most one submit and one round of polls;
/// between them the stage is a row with a wake time.
struct ComputeStage: Stage {
    typealias Checkpoint = ComputeCheckpoint
    typealias Context = StageContext<ComputeCheckpoint>
    typealias Outcome = StageOutcome<ComputeCheckpoint>

    let requests: StageRequests
    /// Nil when the stage watches what another one started.
    @IndirectOptional private(set) var submit: RequestDefinition?
    /// Empty when the rules for 202 and `Location` apply.
    let polls: [PollDefinition]
    @IndirectOptional private(set) var cancelRequest: RequestDefinition?
    /// Taken from the last answer.
    let capture: CaptureSet
    let carried: CarriedCaptures
    /// The definition by which a callback wakes it; nil when none does.
    var callback: CallbackDefinition?
    /// The polls that are shared with other jobs.
    let shared: SharedPolls

    func resume(from saved: ComputeCheckpoint?, in context: Context) async throws(StageFailure) -> Outcome {
        var checkpoint = saved ?? ComputeCheckpoint()
        if let submit, !checkpoint.isSubmitted { return try await begin(submit, &checkpoint, in: context) }
        return try await goOn(from: checkpoint, in: context)
    }

    /// Looks what has become of a job that was submitted.
    private func goOn(from saved: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        var checkpoint = saved
        if endsByCallback { return try await awaitCallback(checkpoint, in: context) }
        try await keepCallback(&checkpoint, in: context)
        if polls.isEmpty { return try await watchMonitor(checkpoint, in: context) }
        return try await watch(checkpoint, in: context)
    }

    /// Tells the service, when the submit is known to be there. What is gone already is as good; what can't be told goes on,
    /// and is paid for.
    func cancel(from checkpoint: ComputeCheckpoint?, in context: Context) async throws(StageFailure) {
        guard let cancelRequest else {
            if submit != nil, let left = await context.submitLeft(at: requests.service?.name) { throw .definite(left) }
            return
        }
        if try await !mayCancel(checkpoint, in: context) {
            guard let submit, await context.hasOpenSubmit else { return }
            try await settle(submit, checkpoint ?? ComputeCheckpoint(), in: context)
        }
        _ = try await cancelRequest.cancel(by: requests, in: context)
    }

    /// Finds out what became of a submit whose answer is lost, so that what it began can be ended: with a key by
    /// sending it again, which at worst begins what is cancelled at once.
    private func settle(
        _ submit: RequestDefinition, _ checkpoint: ComputeCheckpoint, in context: Context
    ) async throws(StageFailure) {
        var state = checkpoint
        let outcome = try await guarded(submit).perform(in: context) { accepted async throws(StageFailure) in
            try await take(accepted, submit, &state, in: context)
        }
        switch outcome {
        case .submitted: return
        case .waiting, .unknown:
            throw .definite(context.openSubmitFailure(at: requests.service?.name))
        }
    }

    private func guarded(_ submit: RequestDefinition) -> GuardedSubmit {
        var guarded = GuardedSubmit(requests: requests, definition: submit)
        if isMonitored { guarded.expected = StatusSet([200...299, 303...303]) }
        return guarded
    }

    /// Without a submit that was accepted there is nothing of ours to end. Its captures may be durable while the
    /// checkpoint is not yet.
    private func mayCancel(
        _ checkpoint: ComputeCheckpoint?, in context: Context
    ) async throws(StageFailure) -> Bool {
        if submit == nil || checkpoint?.isSubmitted == true { return true }
        guard let names = submit?.capture.names, !names.isEmpty else { return false }
        return try await context.evaluate { scope throws(EvaluationFailure) in
            names.allSatisfy { scope.own[$0] != nil }
        }
    }

    // MARK: Beginning

    private func begin(
        _ submit: RequestDefinition, _ checkpoint: inout ComputeCheckpoint, in context: Context
    ) async throws(StageFailure) -> Outcome {
        if endsByCallback { try await checkCallback(in: context) }
        var receipt: SubmitReceipt?
        var state = checkpoint
        let guarded = guarded(submit)
        let rendered = try await guarded.render(in: context)
        try await requests.claimComputation(rendered, in: context)
        let outcome = try await guarded.perform(rendered, in: context) { accepted async throws(StageFailure) in
            receipt = accepted
            return try await take(accepted, submit, &state, in: context)
        }
        switch outcome {
        case .waiting(let time):
            let reason = WaitReason(.settle, detail: "the submit's answer was lost; it is looked for again")
            return .waiting(state, until: .at(time), reason)
        case .unknown(let lost): return .unknown(state, lost)
        case .submitted:
            state.isSubmitted = true
            state.secondsToSubmit = (context.now - context.facts.started).seconds
            checkpoint = state
            // Accepted before this call, by a process that ended: the first poll after a restart is at once.
            if receipt == nil, !polls.isEmpty { return try await goOn(from: state, in: context) }
            return try await began(receipt, state, in: context)
        }
    }

    /// The captures of an answer that accepts. Without `poll` the answer also says how it goes on, which is durable
    /// before the ledger's entry is, so that no crash loses it.
    private func take(
        _ receipt: SubmitReceipt, _ submit: RequestDefinition, _ state: inout ComputeCheckpoint, in context: Context
    ) async throws(StageFailure) -> Result<JSONObject, CaptureFailure> {
        var wanted = submit.capture.entries
        context.conclude(with: receipt.answer)
        if isMonitored {
            state.monitor = receipt.answer.monitor
            // The success of a look-up is its own: it shows that the job is there, not that it has ended.
            state.isEnded = state.monitor == nil && receipt.isDirect && receipt.answer.status != 202
            state.isLeftOpen = state.monitor == nil && !state.isEnded ? true : nil
            if state.isEnded { wanted += capture.entries }
            try await context.commit(state)
        }
        var values = try await carried.void(of: polls.map { captures(of: $0) }, in: context)
        do throws(CaptureFailure) {
            for member in try CaptureSet(wanted).values(in: receipt.answer) { values[member.name] = member.value }
            return .success(values)
        } catch {
            // It has a job, which will be paid for although nobody can ask for it.
            context.noteServed()
            return .failure(error)
        }
    }

    private func began(
        _ receipt: SubmitReceipt?, _ checkpoint: ComputeCheckpoint, in context: Context
    ) async throws(StageFailure) -> Outcome {
        if endsByCallback { return try await awaitCallback(checkpoint, in: context) }
        if polls.isEmpty {
            switch checkpoint.endPlace {
            case .here: return .finished([:])
            case .nowhere: throw noPlaceToAsk(after: receipt?.answer, in: context)
            case .at: break
            }
        } else if let receipt, receipt.isDirect, [200, 201].contains(receipt.answer.status),
            let ended = try await FirstPoll(stage: self, answer: receipt.answer).captures(in: context)
        {
            return .finished(ended)
        }
        let report = receipt.flatMap { receipt in polls.first.map { PollReport($0, receipt.answer) } }
        // A stream is opened at once: there is nothing to wait for.
        return try await waiting(
            checkpoint, words: report?.words ?? Estimate.Words(), floor: receipt?.retryAfter,
            reopensAfter: polls.first?.events.map { _ in .zero }, detail: nil, in: context)
    }

    // MARK: Waiting

    /// The wait for the next poll; one falls due at the deadline at the latest.
    ///
    /// - Parameter pause: of a stream, how long until it is opened again.
    func waiting(
        _ checkpoint: ComputeCheckpoint, words: Estimate.Words = Estimate.Words(), floor: Duration?,
        reopensAfter pause: Duration? = nil, detail: String?, isTrouble: Bool = false, in context: Context
    ) async throws(StageFailure) -> Outcome {
        // A submit that was accepted and a good poll are progress, after which a token may end once more.
        if checkpoint.failures == 0, context.facts.hasFailed {
            try await context.commit(checkpoint, progressed: true)
        }
        let pace = try await context.evaluate { scope throws(EvaluationFailure) in
            let given = polls.first { $0.pace.isGiven }?.pace ?? PollPaceDefinition()
            return try PollPace(given, in: scope)
        }
        let elapsed = (context.now - context.facts.started).seconds
        var (checkpoint, words) = (checkpoint, words)
        words.shareSeconds = (context.now - checkpoint.begin(of: context.facts)).seconds
        let isPushed = try await isPushExpected(in: context)
        let situation = PollPace.Situation(
            polls: checkpoint.polls, elapsed: elapsed, outlook: context.facts.outlook, words: words, floor: floor,
            isPushed: isPushed, isAttended: context.facts.isAttended)
        var wait = pause.map { max($0, floor ?? .zero) } ?? pace.wait(in: situation)
        if checkpoint.failures > 0 {
            // Nobody waits for the spread of one poller's delays, so the whole delay is taken.
            let grown = context.facts.retry.delay(afterFailures: checkpoint.failures, floor: floor, random: 1)
            wait = max(wait, grown)
        }
        var time = context.now + wait
        if let deadline = context.facts.deadline, deadline > context.now { time = min(time, deadline) }
        if let list = polls.first?.list {
            let shared = ListPoll(stage: self, list: list, context: context)
            time = try await shared.aligned(time, floor: floor, checkpoint)
        }
        let wake: WakeCondition = callback == nil ? .at(time) : .callback(orAt: time)
        // A poll that failed says nothing, and takes nothing back.
        let foretold = words.end(at: context.now, elapsed: elapsed).map { ForetoldEnd($0, said: context.now) }
        checkpoint.foretold = foretold ?? (checkpoint.failures > 0 ? checkpoint.foretold : nil)
        let reason = WaitReason(.poll, detail: detail, isTrouble: isTrouble, foretold: checkpoint.foretold)
        return .waiting(checkpoint, until: wake, reason)
    }

    /// True if the rules for 202 and `Location` apply.
    var isMonitored: Bool { polls.isEmpty && !endsByCallback }

    func isPushExpected(in context: Context) async throws(StageFailure) -> Bool {
        guard callback != nil else { return false }
        return try await context.evaluate { scope throws(EvaluationFailure) in scope.callbackURL != nil }
    }
}
