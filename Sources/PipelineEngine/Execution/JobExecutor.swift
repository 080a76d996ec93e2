import Assertions
import JSONPath
import PipelineCore

/// Runs one job: gives what reaches it to its law, and does what follows: commit, act, publish.
///
/// It decides nothing and is the only writer of its job. Its memory is a fold of what it committed; a commit that fails
/// ends it, so that nothing is ever done from a state that is not on disk.
actor JobExecutor {
    nonisolated let mailbox = Mailbox<ExecutorMessage>()
    nonisolated let redactor = SharedRedactor()
    /// Where committed events go.
    nonisolated let publisher: EventPublisher
    /// What calls say of their steps between two changes of these.
    nonisolated let notes = NoteBook()
    let ports: EnginePorts
    let options: Options
    /// The lease that commits are made under: another one once the job has been let go and its last notifications are
    /// sent.
    var lease: Lease
    var state: JobState
    var queue = CommitQueue()
    private var meter: JobMeter
    /// The calls of stages that are under way.
    var calls: [StepKey: StepCall] = [:]
    /// What is to be done once all that was committed before it is on disk.
    var actions: [JobCommand] = []
    var timer: (time: Timestamp, timer: CancellableTimer)?
    /// A mistake of ours that the law has found, until the job is taken up from the journal once more.
    var mistake: IllegalTransition?

    /// What one owner's work on a job is like.
    struct Options: Sendable {
        var purpose = JobPurpose.run
        /// Whether existing files may be replaced.
        var overwrites = false
        /// How long stages took before; nil when nobody remembers.
        var history: DurationHistoryCache?
    }

    init(_ state: JobState, lease: Lease, ports: EnginePorts, options: Options) {
        self.state = state
        self.lease = lease
        self.ports = ports
        self.options = options
        meter = JobMeter(state.snapshot)
        publisher = EventPublisher(observe: ports.observe)
    }

    var snapshot: JobSnapshot { state.snapshot }

    // MARK: Beginning

    /// Journals a new job; its first transaction holds all that begins with it.
    func create(begins: Bool) async throws(JournalFailure) -> Lease {
        _ = try await take(.created(begins: begins))
        let batch = queue.takeNext()
        var first = state.snapshot
        first.sequence = 0
        lease = try await ports.journal.create(first, events: batch.events, owner: ports.owner)
        publisher.publish(batch.events)
        queue.next.measured.add(batch.measured)
        return lease
    }

    /// Takes the job up: what its last owner left running is interrupted, what waits for a resume is woken.
    func takeUp(_ mode: JobMode, _ scope: RestartScope) async throws(JournalFailure) {
        _ = try await take(.takenUp(mode, scope))
        try await commitDue()
    }

    /// Settles an unknown submit as a person knows it, and lets the job go.
    func resolve(_ key: StepKey, _ resolution: Resolution) async throws(JournalFailure) {
        guard case .unknown = state.table.step(key)?.state, state.snapshot.submits[key] != nil else {
            throw .conflict(key)
        }
        _ = try await take(.resolved(key, resolution))
        try await commitDue()
    }

    // MARK: Running

    /// Runs the job until it ends, is let go or is lost, or until all that is left of it is a long wait.
    func run(parking: Duration?) async throws(JournalFailure) -> JobEnd {
        state.park(after: parking)
        defer {
            publisher.close()
            ports.exchanges.flush(snapshot.record.id)
        }
        if options.purpose == .notify { return await notifyOnly() }
        let missing = await readSecrets()
        let samples = await options.history?.samples(of: snapshot.record.pipeline, at: ports.clock.now)
        state.marks.samples = samples ?? [:]
        var result = await workInGroup(missing)
        for _ in 0..<Self.recoveryLimit where mistake != nil { result = await recover(missing) }
        if case .failure(.stale) = result { return .lost }
        if case .failure(let failure) = result {
            // Nobody runs the job any more: another owner may, when the journal takes writes again.
            try? await ports.journal.release(lease)
            throw failure
        }
        return try result.get()
    }

    func workInGroup(_ missingSecret: String?) async -> Result<JobEnd, JournalFailure> {
        await withDiscardingTaskGroup { group -> Result<JobEnd, JournalFailure> in
            do throws(JournalFailure) {
                let end = try await work(missingSecret, &group)
                if case .parked = end {} else { await deliverRest(&group) }
                stopAll(&group)
                return .success(end)
            } catch {
                stopAll(&group)
                return .failure(error)
            }
        }
    }

    private func stopAll(_ group: inout DiscardingTaskGroup) {
        timer?.timer.stop()
        // In order of their names, so that a simulation's seed fixes what happens.
        for (_, call) in calls.sorted(by: { $0.key < $1.key }) { call.stop() }
        group.cancelAll()
    }

    private func work(
        _ missingSecret: String?, _ group: inout DiscardingTaskGroup
    ) async throws(JournalFailure) -> JobEnd {
        if options.purpose == .abandon { _ = try await take(.stop(.abandon)) }
        if let missingSecret, let end = try await take(.secretMissing(missingSecret)) {
            return try await finish(end)
        }
        // What a person asked for while nobody was there to hear it.
        try await readInbox()
        while true {
            // All that has come is taken in before anything new begins.
            while let message = mailbox.poll() { try await receive(message) }
            switch try await take(.advance) {
            case nil: continue
            case .finish(let end): return try await finish(.finish(end))
            case .park(let time):
                try await act(&group)
                guard mailbox.isEmpty else { continue }
                publisher.confirm(allBut: calls.keys)
                return .parked(until: time)
            case .wait(let time):
                try await act(&group)
                if let time { arm(time, &group) }
                publisher.confirm(allBut: calls.keys)
                try await receive(await mailbox.next())
            }
        }
    }

    private func finish(_ rest: Rest) async throws(JournalFailure) -> JobEnd {
        try await commitDue()
        if case .finish(let end) = rest { return end }
        return .lost
    }

    func receive(_ message: ExecutorMessage) async throws(JournalFailure) {
        switch message {
        case .ended(let key, let result): try await receive(result, of: key)
        case .heard(let key): _ = try await take(.heard(key, notes.takeWords(key)))
        case .authenticates(let key): _ = try await take(.authenticates(key))
        case .delivered(let id, let result):
            _ = try await take(.delivered(id, result, random: ports.randomness.unit()))
        case .tick(let time): if timer?.time == time { timer = nil }
        case .watched: break
        case .delaysReset(let pipeline): _ = try await take(.delaysReset(pipeline: pipeline))
        case .inbox: try await readInbox()
        case .stop(let request): _ = try await take(.stop(request))
        }
    }

    private func receive(
        _ result: Result<StageOutcome<[UInt8]>, StageFailure>, of key: StepKey
    ) async throws(JournalFailure) {
        calls[key] = nil
        if ports.breaksLaw(key) { try apply(broken: key) }
        let end: StepEnd
        switch result {
        case .success(.finished(let captures)):
            conceal(captures, of: key)
            end = .finished(captures)
        case .success(.waiting(let checkpoint, let wake, let reason)): end = .waiting(checkpoint, wake, reason)
        case .success(.unknown(let checkpoint, let submit)): end = .unknown(checkpoint, submit)
        case .failure(.failed(let failed)): end = .failed(failed)
        case .failure(.stopped): end = .stopped
        case .failure(.journal(let failure)): throw failure
        }
        _ = try await take(.ended(key, end, notes.take(key), random: ports.randomness.unit()))
        if state.table.step(key)?.state.isEnded == true { notes.forget(key) }
    }

    private func readInbox() async throws(JournalFailure) {
        guard let inbox = try await ports.journal.inbox(of: snapshot.record.id) else { return }
        _ = try await take(.inbox(inbox))
    }

    /// Keeps what a call says; durable when this returns, unless it may wait. On the way of the call, beside the loop.
    func save(_ report: StepReport, of key: StepKey) async throws(JournalFailure) {
        var noted = StepNotes()
        switch report {
        case .progress(_, let captures, _, _):
            conceal(captures ?? [:], of: key)
            noted = notes.take(key)
        case .submit(_, let captures, _): conceal(captures ?? [:], of: key)
        case .fact, .files, .warning: break
        }
        for command in try apply(.saved(key, report, noted)) {
            guard case .commit(let changes, let mayWait) = command else { continue }
            try enqueue(changes, mayWait: mayWait, for: [])
            if !mayWait { try await commitDue() }
        }
    }

    // MARK: Doing

    /// What is left to do once all commands are done.
    enum Rest {
        case wait(until: Timestamp?)
        case park(until: Timestamp?)
        case finish(JobEnd)
    }

    private func apply(_ input: JobInput) throws(JournalFailure) -> [JobCommand] {
        let moment = JobMoment(
            ports.clock.reading, isWatched: ports.isWatched(snapshot.record.id), redactor: redactor.current)
        do throws(IllegalTransition) {
            return try state.apply(input, at: moment)
        } catch {
            throw report(error)
        }
    }

    /// Does what follows from an input and from what had to be found out for it; acts gather until ``act(_:)``.
    func take(_ input: JobInput) async throws(JournalFailure) -> Rest? {
        var rest: Rest?
        var inputs = [input]
        var next = 0
        while next < inputs.count {
            let commands = try apply(inputs[next])
            next += 1
            let called = commands.compactMap(\.calledStep)
            for command in commands {
                switch command {
                case .commit(let changes, let mayWait): try enqueue(changes, mayWait: mayWait, for: called)
                case .prepare(let key): inputs.append(.found(.preparation(key, try await prepare(key))))
                case .evaluateItems(let key): inputs.append(.found(.items(key, try await items(of: key))))
                case .evaluateWarnings(let key, let captures):
                    var warnings = try await warnings(of: key, captures)
                    let (cost, problem) = try await cost(of: key, captures)
                    if let problem { warnings.append(problem) }
                    inputs.append(.found(.warnings(key, captures: captures, warnings, cost: cost)))
                case .enterResume(let request):
                    guard let limiter = ports.gate else { continue }
                    inputs.append(.found(.resume(await limiter.enter(request))))
                case .enterAuthentication(let key, let request):
                    let decision = if let request { await ports.gate?.enter(request) } else { ResumeDecision?.none }
                    inputs.append(.found(.authentication(key, decision)))
                case .evaluateCondition(let key, let question):
                    guard let limiter = ports.gate else { continue }
                    inputs.append(.found(.condition(key, await limiter.judge(question))))
                case .attend(let record, let isJournaled):
                    let wasDelayed = await ports.gate?.attend(record) ?? false
                    inputs.append(.found(.attended(record, isJournaled: wasDelayed || isJournaled)))
                case .cancelAtService(let key):
                    inputs.append(.found(.cancellation(key, problem: try await cancelAtService(key))))
                case .expect(.resume(let resume)): await ports.gate?.expect(resume)
                case .expect(.none): await ports.gate?.forget(snapshot.record.id)
                // Of a job that is not journaled yet nobody is told anything.
                case .publish(let event): if lease.epoch == 0 { actions.append(command) } else { ports.observe(event) }
                case .stop(let key): calls[key]?.stop()
                case .call, .deliver: actions.append(command)
                case .continue: break
                case .wait(let time): rest = .wait(until: time)
                case .park(let time): rest = .park(until: time)
                case .finish(let end): rest = .finish(end)
                }
            }
        }
        return rest
    }

    private func enqueue(
        _ changes: [JournalChange], mayWait: Bool, for called: [StepKey]
    ) throws(JournalFailure) {
        for key in called { publisher.defer(key) }
        for change in changes {
            switch change {
            case .step(let key, let step):
                if step.state.name == .waiting { publisher.defer(key) }
                noteRunning(key)
            case .sample(let sample): options.history?.add(sample)
            case .released, .ended:
                options.history?.forgetRunning(snapshot.record.id, in: snapshot.record.pipeline)
            case .submit, .fact, .event, .file, .resume, .taken, .requested, .pushesTaken,
                .pushesVoided, .reopened, .notification, .measured:
                break
            }
        }
        try queue.enqueue(changes, mayWait: mayWait)
        queue.next.measured.add(meter.measurements(of: changes, in: state.table.plan))
        queue.next.measured.add(notes.takeMeasurements())
    }

    /// Lets other jobs learn from a remote job while it runs: those that end first are the short ones.
    private func noteRunning(_ key: StepKey) {
        guard let history = options.history else { return }
        if let sample = state.marks.runningSample(of: key, in: state.table) {
            history.setRunning(sample, snapshot.record.id, key)
        } else if let step = state.table.step(key), step.state.isEnded || step.attempts > 1 {
            history.forgetRunning(snapshot.record.id, key, in: snapshot.record.pipeline)
        }
    }

    /// Acts on what is on disk by then.
    func act(_ group: inout DiscardingTaskGroup) async throws(JournalFailure) {
        try await commitDue()
        let now = actions
        actions = []
        for action in now {
            switch action {
            case .call(let key): call(key, &group)
            case .deliver(let record): deliver(record, &group)
            case .publish(let event): ports.observe(event)
            case .commit, .prepare, .evaluateItems, .evaluateWarnings, .enterResume, .enterAuthentication,
                .evaluateCondition, .attend, .cancelAtService, .expect, .stop, .continue, .wait, .park,
                .finish:
                break
            }
        }
    }

    /// Calls the step's stage in a task of its own; its end is a message.
    private func call(_ key: StepKey, _ group: inout DiscardingTaskGroup) {
        guard let stage = state.table.plan.stage(key.stage), let step = state.table.step(key) else {
            return mailbox.post(.ended(key, .failure(failure(because: "there is no stage '\(key)' to call"))))
        }
        let call = StepCall()
        calls[key] = call
        let host = host(for: key, stage, step)
        let beside: (@Sendable () async -> Void)? =
            if stage.stage.work == .transfer { { await host.showHeldProgress() } } else { nil }
        group.addTask { [mailbox, publisher, checkpoint = step.checkpoint] in
            let result = await call.perform(beside: beside) {
                await stage.stage.resume(checkpoint, host)
            } hasBegun: {
                publisher.confirm(key)
            }
            mailbox.post(.ended(key, result))
        }
    }

    private func cancelAtService(_ key: StepKey) async throws(JournalFailure) -> String? {
        try await commitDue()
        // Nothing is done for steps any more; a service may take its time over a cancellation.
        publisher.confirm(allBut: [])
        guard let stage = state.table.plan.stage(key.stage), let step = state.table.step(key) else { return nil }
        let failure = await StepCall.cancel(stage.stage, step.checkpoint, host(for: key, stage, step))
        if case .failed(let failed) = failure { return failed.failure.title }
        return nil
    }

    /// One timer for all that is waited for.
    private func arm(_ time: Timestamp, _ group: inout DiscardingTaskGroup) {
        if let timer {
            if timer.time == time { return }
            timer.timer.stop()
        }
        let next = CancellableTimer()
        timer = (time, next)
        group.addTask { [mailbox, clock = ports.clock] in
            if await next.sleep(until: time, by: clock) { mailbox.post(.tick(time)) }
        }
    }
}

extension JobCommand {
    /// The step whose stage it calls.
    fileprivate var calledStep: StepKey? { if case .call(let key) = self { key } else { nil } }
}
