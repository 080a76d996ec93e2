import JSONPath
import PipelineCore

/// Runs one job: gives what reaches it to its law, and does what follows: commit, act, publish.
///
/// It decides nothing and is the only writer of its job. Its memory is a fold of what it committed. What it does it
/// leaves to parts: ``JobWriter`` commits, ``StepEvaluator`` finds things out, ``StepCall`` calls a stage,
/// ``NotificationCourier`` tells people.
actor JobExecutor {
    nonisolated let mailbox = Mailbox<ExecutorMessage>()
    nonisolated let redactor = SharedRedactor()
    /// The publisher to which committed events go.
    nonisolated let publisher: EventPublisher
    /// The notes that calls make of their steps between two changes of these.
    nonisolated let notes = NoteBook()
    let ports: EnginePorts
    let options: Options
    let writer: JobWriter
    var state: JobState
    /// The calls of stages that are under way.
    var calls = StepCalls()
    /// The actions that are to be done once all that was committed before them is on disk.
    var actions: [Action] = []
    var timer = JobTimer()
    /// A mistake of ours that the law has found, until the job is taken up from the journal once more.
    var mistake: IllegalTransition?

    /// The settings of one owner's work on a job.
    struct Options: Sendable {
        var purpose = JobPurpose.run
        /// True if existing files may be replaced.
        var overwrites = false
        /// The time that stages took before.
        let history: HistoryRecorder
    }

    /// An action that waits for a commit.
    enum Action {
        case call(StepKey)
        case stop(StepKey)
        case deliver(NotificationRecord)
        case publish(JobEvent)
    }

    /// The work that is left once all commands are done.
    enum Rest {
        case wait(until: Timestamp?)
        case park(until: Timestamp?)
        case finish(JobEnd)
    }

    init(_ state: JobState, lease: Lease, ports: EnginePorts, options: Options) {
        self.state = state
        self.ports = ports
        self.options = options
        publisher = EventPublisher(observe: ports.observe)
        writer = JobWriter(state, lease: lease, journal: ports.journal, publisher: publisher, notes: notes)
    }

    var snapshot: JobSnapshot { state.table.snapshot }
    /// The memory that stays of the job while it is parked.
    var parked: ParkedJob {
        let limit = state.mustActBefore()
        return ParkedJob(state, mustActBefore: limit, lease: writer.lease, overwrites: options.overwrites)
    }
    var secrets: SecretReader { SecretReader(source: ports.secrets, redactor: redactor) }
    var history: HistoryRecorder { options.history }

    // MARK: Beginning

    /// Journals a new job; its first transaction holds all that begins with it.
    func create(begins: Bool) async throws(JournalFailure) -> Lease {
        _ = try await take(.created(begins: begins))
        try await writer.create(snapshot)
        return writer.lease
    }

    /// Takes the job up: what its last owner left running is interrupted, what waits for a resume is woken, and files that
    /// stood on the machine of the last owner are made again.
    func takeUp(_ mode: JobMode, _ scope: RestartScope) async throws(JournalFailure) {
        let read = options.purpose == .run ? snapshot.filesToRead(in: state.table.plan, retried: scope != .nothing) : []
        _ = try await take(.takenUp(mode, scope, lost: read.filter { ports.files.isLost($0, of: snapshot) }))
        try await writer.commit()
    }

    /// Settles an unknown submit as a person knows it, and lets the job go.
    func resolve(_ key: StepKey, _ resolution: Resolution) async throws(JournalFailure) {
        guard case .unknown = snapshot.steps[key]?.state, snapshot.submits[key] != nil else {
            throw .conflict(key)
        }
        _ = try await take(.resolved(key, resolution))
        try await writer.commit()
    }

    /// Has what the job, which has ended, left at its services removed there. Returns whether something is left still.
    func removeLeft() async throws(JournalFailure) -> Bool {
        defer { conclude() }
        _ = await readSecrets()
        _ = try await take(.removal)
        try await writer.commit()
        return !snapshot.workLeft(in: state.table.plan).isEmpty
    }

    // MARK: Running

    /// Nothing more is said of the job: what was is shown, and kept.
    private func conclude() {
        publisher.close()
        ports.exchanges.flush(snapshot.record.id)
    }

    /// Runs the job until it ends, is let go or is lost, or until all that is left of it is a long wait.
    func run(parking: Duration?) async throws(JournalFailure) -> JobEnd {
        state.park(after: parking)
        defer { conclude() }
        if options.purpose == .notify { return await notifyOnly() }
        notes.claims.begin(with: snapshot)
        let missing = await readSecrets()
        let samples = await history.cache?.samples(of: history.pipeline, at: ports.clock.now)
        state.marks.samples = samples ?? [:]
        var result = await workInGroup(missing)
        for _ in 0..<Self.recoveryLimit where mistake != nil { result = await recover(missing) }
        if case .failure(.stale) = result { return .lost }
        if case .failure(let failure) = result {
            // Nobody runs the job any more: another owner may, once the journal takes writes again.
            try? await ports.journal.release(writer.lease)
            throw failure
        }
        return try result.get()
    }

    func workInGroup(_ missingSecret: String?) async -> Result<JobEnd, JournalFailure> {
        await withDiscardingTaskGroup { group -> Result<JobEnd, JournalFailure> in
            defer {
                timer.stop()
                calls.stopAll()
                group.cancelAll()
            }
            do throws(JournalFailure) {
                let end = try await work(missingSecret, &group)
                if case .parked = end {} else { await deliverRest(&group) }
                return .success(end)
            } catch {
                return .failure(error)
            }
        }
    }

    private func work(
        _ missingSecret: String?, _ group: inout DiscardingTaskGroup
    ) async throws(JournalFailure) -> JobEnd {
        if options.purpose == .abandon { _ = try await take(.stop(.abandon)) }
        if let missingSecret, let end = try await take(.secretMissing(missingSecret)) {
            try await writer.commit()
            if case .finish(let end) = end { return end }
            return .lost
        }
        // What a person asked for while nobody was there to hear it.
        try await receive(.inbox)
        while true {
            // All that has come is taken in before anything new begins.
            var asks = false
            while let message = mailbox.poll() {
                if case .inbox = message { asks = true } else { try await receive(message) }
            }
            // One look does for all that came together.
            if asks { try await receive(.inbox) }
            guard let rest = try await take(.advance) else { continue }
            switch rest {
            case .finish(let end):
                try await writer.commit()
                return end
            case .park(let time):
                try await act(&group)
                guard mailbox.isEmpty else { continue }
                publisher.confirm(allBut: calls.steps)
                return .parked(until: time)
            case .wait(let time):
                try await act(&group)
                if let time { timer.arm(time, by: ports.clock, mailbox, &group) }
                publisher.confirm(allBut: calls.steps)
                try await receive(await mailbox.next())
            }
        }
    }

    // MARK: Taking in

    func receive(_ message: ExecutorMessage) async throws(JournalFailure) {
        switch message {
        case .ended(let key, let result): try await receive(result, of: key)
        case .heard(let key): _ = try await take(.heard(key, notes.takeWords(key)))
        case .authenticates(let key): _ = try await take(.authenticates(key))
        case .delivered(let id, let result):
            _ = try await take(.delivered(id, result, random: ports.randomness.unit()))
        case .tick(let time): timer.end(time)
        case .watched: break
        case .delaysReset(let pipeline): _ = try await take(.delaysReset(pipeline: pipeline))
        case .inbox:
            if let inbox = try await ports.journal.inbox(of: snapshot.record.id) { _ = try await take(.inbox(inbox)) }
        case .stop(let request): _ = try await take(.stop(request))
        }
    }

    private func receive(
        _ result: Result<StageOutcome<[UInt8]>, StageFailure>, of key: StepKey
    ) async throws(JournalFailure) {
        calls.end(key)
        if ports.breaksLaw(key) { throw report(IllegalTransition(state: .succeeded, event: "finished", step: key)) }
        let end: StepEnd
        switch result {
        case .success(.finished(let captures)):
            secrets.hide(captures, of: state.table.plan.stage(key.stage))
            end = .finished(captures)
        case .success(.waiting(let checkpoint, let wake, let reason)): end = .waiting(checkpoint, wake, reason)
        case .success(.unknown(let checkpoint, let submit)): end = .unknown(checkpoint, submit)
        case .failure(.failed(let failed)): end = .failed(failed)
        case .failure(.stopped): end = .stopped
        case .failure(.journal(let failure)): throw failure
        }
        var noted = notes.take(key)
        let isOrdered = snapshot.submits[key]?.phase == .submitted
        if end.isPaid(isServed: notes.takeServed(key), isOrdered: isOrdered) {
            noted.cost = try await evaluator(of: key)?.cost()
        }
        _ = try await take(.ended(key, end, noted, random: ports.randomness.unit()))
        guard let ended = snapshot.steps[key]?.state, ended.isEnded else { return }
        notes.forget(key)
        notes.claims.end(key, succeeded: ended.name == .succeeded)
    }

    /// Keeps what a call says; durable when this returns, unless it may wait. On the way of the call, next to the loop.
    func save(_ report: StepReport, of key: StepKey) async throws(StageFailure) {
        guard calls.admits(report, of: key) else { throw .stopped }
        do throws(JournalFailure) {
            if let captures = report.captures { secrets.hide(captures, of: state.table.plan.stage(key.stage)) }
            let noted = report.takesNotes ? notes.take(key) : StepNotes()
            for command in try apply(.saved(key, report, noted)) {
                guard case .commit(let changes, let mayWait) = command else { continue }
                try add(changes, mayWait: mayWait, for: [])
                if !mayWait { try await writer.commit() }
            }
        } catch {
            throw .journal(error)
        }
        calls.note(report, of: key)
    }

    private func apply(_ input: JobInput) throws(JournalFailure) -> [JobCommand] {
        // An optimised build has lost its way back to an actor before; then two threads would change the state at once.
        preconditionIsolated()
        let moment = JobMoment(
            ports.clock.reading, isWatched: ports.isWatched(history.job), redactor: redactor.current)
        do throws(IllegalTransition) {
            return try state.apply(input, at: moment)
        } catch {
            throw report(error)
        }
    }

    // MARK: Doing

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
                case .commit(let changes, let mayWait): try add(changes, mayWait: mayWait, for: called)
                case .prepare(let key): inputs.append(.found(.preparation(key, try await prepare(key))))
                case .evaluateItems(let key, let elements):
                    inputs.append(.found(.items(key, try await items(of: key, elements: elements))))
                case .evaluateWarnings(let key, let captures):
                    let judged = try await evaluator(of: key)?.judge(captures)
                    inputs.append(
                        .found(.warnings(key, captures: captures, judged?.warnings ?? [], cost: judged?.cost)))
                case .enterResume(let request):
                    if let gate = ports.gate { inputs.append(.found(.resume(await gate.enter(request)))) }
                case .enterAuthentication(let key, let request):
                    let decision = if let request { await ports.gate?.enter(request) } else { ResumeDecision?.none }
                    inputs.append(.found(.authentication(key, decision)))
                case .evaluateCondition(let key, let question):
                    if let gate = ports.gate { inputs.append(.found(.condition(key, await gate.judge(question)))) }
                case .attend(let record, let isJournaled):
                    let wasDelayed = await ports.gate?.attend(record) ?? false
                    inputs.append(.found(.attended(record, isJournaled: wasDelayed || isJournaled)))
                case .cancelAtService(let key):
                    inputs.append(.found(.cancellation(key, problem: try await cancelAtService(key))))
                case .expect(.resume(let resume)): await ports.gate?.expect(resume)
                case .expect(.none): await ports.gate?.forget(snapshot.record.id)
                // Of a job that is not journaled yet nobody is told anything.
                case .publish(let event):
                    if writer.lease.epoch == 0 { actions.append(.publish(event)) } else { ports.observe(event) }
                // A call that waits for its commit is stopped once it has begun.
                case .stop(let key): if !calls.stop(key) { actions.append(.stop(key)) }
                case .call(let key): actions.append(.call(key))
                case .deliver(let record): actions.append(.deliver(record))
                case .continue: break
                case .wait(let time): rest = .wait(until: time)
                case .park(let time): rest = .park(until: time)
                case .finish(let end): rest = .finish(end)
                }
            }
        }
        return rest
    }

    private func add(
        _ changes: [JournalChange], mayWait: Bool, for called: [StepKey]
    ) throws(JournalFailure) {
        for key in called { publisher.defer(key) }
        for case .step(let key, let step) in changes where step.state.name == .waiting { publisher.defer(key) }
        history.note(changes, of: &state)
        try writer.add(changes, mayWait: mayWait)
    }

    /// Acts on what is on disk by then.
    func act(_ group: inout DiscardingTaskGroup) async throws(JournalFailure) {
        try await writer.commit()
        let now = actions
        actions = []
        for action in now {
            switch action {
            case .call(let key): call(key, &group)
            case .stop(let key): _ = calls.stop(key)
            case .deliver(let record): deliver(record, &group)
            case .publish(let event): ports.observe(event)
            }
        }
    }

    /// Calls the step's stage in a task of its own; its end is a message.
    private func call(_ key: StepKey, _ group: inout DiscardingTaskGroup) {
        guard let stage = state.table.plan.stage(key.stage), let step = snapshot.steps[key] else { return }
        let call = calls.begin(key)
        let host = host(for: key, stage, step)
        let beside: (@Sendable () async -> Void)? =
            if stage.stage.work == .transfer { { await host.showHeldProgress() } } else { nil }
        group.addTask { [mailbox, publisher, clock = ports.clock, checkpoint = step.checkpoint] in
            let result = await call.perform(by: clock, beside: beside) {
                await stage.stage.resume(checkpoint, host)
            } hasBegun: {
                publisher.confirm(key)
            }
            mailbox.post(.ended(key, result))
        }
    }

    /// Gives a notification to its sink in a task of its own; what became of it is a message.
    private func deliver(_ record: NotificationRecord, _ group: inout DiscardingTaskGroup) {
        guard let sinks = ports.sinks else { return }
        let courier = NotificationCourier(sinks: sinks, plan: state.table.plan, job: snapshot.record)
        group.addTask { [mailbox, scope = state.table.documentScope] in
            if let result = await courier.deliver(record, in: scope) { mailbox.post(.delivered(record.id, result)) }
        }
    }

    private func cancelAtService(_ key: StepKey) async throws(JournalFailure) -> String? {
        try await writer.commit()
        // Nothing is done for steps any more; a service may take its time over a cancellation.
        publisher.confirm(allBut: [])
        guard let stage = state.table.plan.stage(key.stage), let step = snapshot.steps[key] else { return nil }
        return await calls.cancellation(at: ports.clock.now).tell(
            stage.stage, step.checkpoint, by: ports.clock, host(for: key, stage, step))
    }
}

extension JobCommand {
    /// The step whose stage it calls.
    fileprivate var calledStep: StepKey? { if case .call(let key) = self { key } else { nil } }
}
