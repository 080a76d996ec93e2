import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// A batch that a command stays with: shows its items as they end, stops it on a signal, and says how it ended.
struct BatchSession {
    let workspace: Workspace
    let journal: Workspace.Journal
    let console: Console
    let options: JobSession.Options

    /// True if the batch is only made ready here, for the background owner to run.
    let isDetached: Bool

    init(_ session: JobSession, isDetached: Bool = false) {
        (workspace, journal, console) = (session.workspace, session.journal, session.console)
        options = session.options
        self.isDetached = isDetached
    }

    // MARK: Going on

    /// Goes on with a batch that nobody owns; with `retries` the items that failed begin again, those of the keys if any
    /// are named: what failed of them, or everything from a stage on.
    func resume(
        _ found: OwnedJob, secretInputs assignments: SecretAssignments, retries: Bool = false, keys: [String]? = nil,
        from stage: String? = nil, spend: Double? = nil
    ) async throws -> ExitStatus {
        let found = try await released(found)
        var job = found.snapshot
        if found.owner != nil { throw JournalFailure.owned(by: found.owner ?? journal.owner) }
        if job.ended != nil, !retries { return try await report(.ended(job.outcome), of: job) }
        if !isDetached { try await found.checkMachine(in: journal) }
        let plan = try await workspace.plan(of: job.record)
        if let stage { try plan.checkStage(stage, of: job.record.key) }
        let secrets = try await assignments.values(of: job.record, in: plan, workspace)
        let draft = JobDraft(job.record, plan: plan, secretInputs: secrets)
        if let missing = try await workspace.missingSecret(of: plan, for: job.record) { throw missing }
        if retries, keys == nil, job.ended == nil, job.request == .cancel {
            // A cancellation that was cut off comes to its end first: all that it ends begins again.
            console.note("batch \(job.record.key) was being cancelled, which is done first")
            switch try await cancel(job, secretInputs: secrets) {
            case .ended, .unknown: break
            case let end: return try await report(end, of: job)
            }
            job = try await journal.jobs(JobQuery(prefix: job.record.id.text)).first?.snapshot ?? job
        }
        let states = Self.retriedStates(of: job, keys)
        let meant = try await retries ? begunItems(in: states, of: job.record.id, keys, from: stage) : [:]
        // Of one that was cancelled there may be items that had not begun, and none else.
        let isLeft = keys == nil && job.ended != nil && (job.batch?.pendingCount ?? 0) > 0
        if retries, meant.isEmpty, !isLeft {
            throw CommandError(
                .usage, Self.nothingFailed(of: job.record.key, keys),
                hint: "'pipeline list --items \(job.record.key)' shows the items; "
                    + (keys != nil && job.ended != nil && (job.batch?.pendingCount ?? 0) > 0
                        ? "those that had not begun do so all together: pipeline retry \(job.record.key)"
                        : "one that was cancelled is begun by its name: pipeline retry \(job.record.key)/ITEM"))
        }
        ChangeNote.all(of: job, begunAnew: []).forEach { $0.show(on: console) }
        let results = try await resultsFile(of: job.record, at: job.batch?.settings.results)
        let lease = try await acquire(job)
        noteOthers(keys?.filter { meant[$0] == nil } ?? [])
        if retries {
            let named = keys.map { _ in Array(meant.keys) }
            let adoption = AdoptedDocument(of: job.record, plan, variables: workspace.settings.environment)
            try await adoption.give(
                toItemsIn: states, named: named, scope: stage.map(RestartScope.from) ?? .failed, in: journal)
            try await beginAnew(named, in: named == nil ? states : Set(meant.values), of: lease)
        }
        if let batch = try await journal.batch(lease.job) {
            var settings = batch.settings
            settings.spend = spend ?? settings.spend
            (settings.forgiven, settings.unpriced) = (batch.count(.failed), batch.unpricedCount)
            if retries { settings.from = stage }
            try await journal.configure(settings, of: lease)
        }
        try await journal.stop(nil, lease)
        let status = try await drive(job, lease, draft, results)
        return isDetached ? try await hand(job.record, draft, status) : status
    }

    /// The batch once it is let go, if it was told to pause: what it has under way needs a moment to stop.
    private func released(_ found: OwnedJob) async throws -> OwnedJob {
        guard found.owner != nil, found.snapshot.request == .pause else { return found }
        _ = try await awaitRelease(of: found)
        return try await journal.jobs(JobQuery(prefix: found.snapshot.record.id.text)).first ?? found
    }

    /// The items that were begun and that a retry begins again, by their keys: those of the named ones, or one where none are
    /// named.
    private func begunItems(
        in states: Set<ItemRecord.State>, of batch: JobID, _ keys: [String]?, from stage: String?
    ) async throws -> [String: ItemRecord.State] {
        guard let keys else {
            var last = 0
            while true {
                let page = try await journal.items(of: batch, in: states, after: last, limit: 1000)
                if let item = page.first(where: { $0.attempt > 0 }) { return [item.key: item.state] }
                guard let end = page.last else { return [:] }
                last = end.number
            }
        }
        var found: [String: ItemRecord.State] = [:]
        for key in keys {
            guard let item = try await journal.item(key, of: batch), item.key == key, item.attempt > 0 else { continue }
            if try await mayRetry(item, in: states, from: stage) { found[key] = item.state }
        }
        return found
    }

    /// Returns whether a person who names an item has it begin again. Of one that succeeded steps may have failed, or it is to
    /// be done again from a stage on.
    private func mayRetry(
        _ item: ItemRecord, in states: Set<ItemRecord.State>, from stage: String?
    ) async throws -> Bool {
        guard item.state == .succeeded, let job = item.job else { return states.contains(item.state) }
        if stage != nil { return true }
        return try await journal.snapshot(of: job)?.hasFailures == true
    }

    private static func nothingFailed(of batch: String, _ keys: [String]?) -> String {
        guard let keys else { return "no item of '\(batch)' that was begun has failed" }
        return keys.count == 1
            ? "no item '\(keys[0])' of '\(batch)' has failed"
            : "none of the \(keys.count) items of '\(batch)' that were named has failed"
    }

    /// Takes the batch up, ended or not.
    func acquire(_ job: JobSnapshot) async throws -> Lease {
        try await journal.acquireBatch(
            job.record.id, .attached, reopens: true, for: journal.owner, at: journal.clock.now)
    }

    // MARK: Working

    /// Runs the batch that this process owns until it ends or is let go; one that is detached only until all is read.
    func drive(
        _ job: JobSnapshot, _ lease: Lease, _ draft: JobDraft, _ results: ResultsFile?, isStrict: Bool = false,
        known: KnownItemRule = KnownItemRule(),
        readsStandardInput: Bool = false
    ) async throws -> ExitStatus {
        let view = BatchView(
            console, key: job.record.key, job: job.record, plan: draft.plan, isJSON: options.isJSON,
            known: known)
        var running = BatchRunner.Options()
        running.overwrites = options.overwrites
        running.onlyReads = isDetached
        running.isStrict = isStrict
        running.readsStandardInput = readsStandardInput
        running.known = known
        running.results = results
        running.observe = { view.take($0) }
        if !isDetached, let batch = try await journal.batch(lease.job) {
            view.start(batch)
            draw(view, batch, draft.plan)
        }
        defer { view.live?.finish() }
        let end = try await run(job, lease, draft, view, running)
        view.live?.finish()
        view.live = nil
        let changed = view.noteChanges()
        if let problem = results?.problem { console.note("warning: \(problem)") }
        return try await report(end, of: job, changed: changed)
    }

    /// Draws the batch on a terminal: from here on no line may be written but above its picture.
    private func draw(_ view: BatchView, _ batch: BatchRecord, _ plan: Plan) {
        guard console.isTerminal, !options.isPlain, !options.isJSON else { return }
        view.live = BatchLiveView(
            console: console, key: view.key, stages: plan.stages.map(\.id), batch: batch, clock: journal.clock)
    }

    private func run(
        _ job: JobSnapshot, _ lease: Lease, _ draft: JobDraft, _ view: BatchView, _ running: BatchRunner.Options
    ) async throws -> BatchRunner.End {
        let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { event in
            view.show(event)
        }
        if !isDetached {
            await workspace.lendSecrets(to: lease.job, plan: draft.plan, secretInputs: draft.secretInputs)
        }
        let runner = BatchRunner(
            BatchRunner.Subject(draft: draft, job: job, lease: lease),
            ports: BatchRunner.Ports(
                journal: journal, clock: journal.clock, newJobID: { [workspace] in workspace.newJobID() }),
            options: running)
        let plans = PlanCache(workspace)
        var ports = ScheduledItems.Ports(
            engine: engine, journal: journal, clock: journal.clock, secretInputs: draft.secretInputs
        ) { record async throws(DefinitionError) in
            if record.digest == job.record.digest { return draft.plan }
            return try await plans.plan(of: record)
        }
        ports.interactivity = options.interactivity
        ports.overwrites = runner.overwrites
        ports.resumed = ItemChangeNotes { view.note($0) }.note
        let items = ScheduledItems(runner, ports)
        let slow = SlowStop { view.note($0) }
        defer { slow.end() }
        let signals = slow.signals { runner.suspend() }
        defer { withExtendedLifetime(signals) {} }
        let requests = journal.requests(for: journal.owner)
        let attentions = journal.attentions()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await job in requests { items.knock(job) } }
            group.addTask { for await attention in attentions { items.take(attention) } }
            group.addTask {
                while true {
                    try await JobFollower.pause(.seconds(10))
                    view.showProgress()
                }
            }
            defer { group.cancelAll() }
            return try await items.run()
        }
    }

    /// The file that the rows of a batch go to, before anything of it is begun: it may be refused.
    func resultsFile(of batch: JobRecord, at path: String?) async throws -> ResultsFile? {
        guard !isDetached, let path else { return nil }
        return try await ResultsFile.open(path, of: batch, in: journal)
    }

    /// Takes up a batch that nobody owns and that was asked to cancel: its items that were begun are cancelled.
    @discardableResult
    func cancel(_ job: JobSnapshot, secretInputs: JSONObject) async throws -> BatchRunner.End {
        let plan = try await workspace.plan(of: job.record)
        let draft = JobDraft(job.record, plan: plan, secretInputs: secretInputs)
        let lease = try await acquire(job)
        let view = BatchView(console, key: job.record.key, job: job.record, plan: plan, isJSON: options.isJSON)
        return try await run(job, lease, draft, view, BatchRunner.Options())
    }

    // MARK: Handing over

    /// Hands the batch over once all is read, with the values of its secrets, and prints its key.
    func hand(_ record: JobRecord, _ draft: JobDraft, _ read: ExitStatus) async throws -> ExitStatus {
        guard read == .succeeded else { return read }
        guard try await journal.snapshot(of: record.id)?.ended == nil else {
            console.data(record.key)
            return read
        }
        let status = try await Detachment(workspace, console).hand(
            record.id, plan: draft.plan, secretInputs: draft.secretInputs, isJournaled: true, name: record.key)
        // The next look sees it run: an owner that is there takes a batch up at once.
        if let handed = try await journal.jobs(JobQuery(prefix: record.id.text, isBrief: true)).first {
            try await JobFollower(workspace, journal).awaitTaking(of: handed)
        }
        return status
    }

    // MARK: Looking on

    /// Shows the batch until the process that owns it lets it go, and says how it ended.
    func watch(_ found: OwnedJob) async throws -> ExitStatus { try await report(try await awaitRelease(of: found)) }

    /// Waits until the process that owns the batch lets it go. Nil once the batch has ended, or nobody said why it was let
    /// go: then this command is the same one again, and its own rows are read. Else the status of how it was let go, or of
    /// a signal that came first, and that none of them was.
    func join(_ found: OwnedJob) async throws -> ExitStatus? {
        let key = found.snapshot.record.key
        let latest = try await SignalledWait(console: console).run(for: key) { stop in
            console.note("batch \(key) is running in another process; this one waits for it")
            return try await awaitRelease(of: found, until: stop.stream)
        }
        switch latest?.snapshot.phase(isOwned: false) {
        case .succeeded, .failed, .unknown: return nil
        // A person took out an item, and did not stop the batch.
        case .cancelled where latest?.snapshot.request != .cancel: return nil
        case .suspended where latest?.snapshot.suspension(isOwned: false) == .crashed: return nil
        case .running, .waiting, .suspended, .cancelled, nil:
            var status = ExitStatus.suspended
            if let latest { status = try await report(latest) }
            console.note("none of the rows of this command was read; the same command again reads them")
            return status
        }
    }

    /// Shows the batch until nobody owns it any more, nor will by itself, or `stops` ends.
    private func awaitRelease(of found: OwnedJob, until stops: AsyncStream<Void>? = nil) async throws -> OwnedJob {
        let record = found.snapshot.record
        let plan = try await workspace.plan(of: record)
        let view = BatchView(
            console, key: record.key, job: record, plan: plan, isJSON: options.isJSON, isOnlooker: true)
        if let batch = found.snapshot.batch { draw(view, batch, plan) }
        defer { view.live?.finish() }
        return try await JobFollower(workspace, journal, interactivity: options.interactivity).follow(
            batch: found, until: stops, in: view)
    }

    private func report(_ latest: OwnedJob) async throws -> ExitStatus {
        switch latest.snapshot.phase(isOwned: false) {
        case .suspended:
            let cause = latest.snapshot.suspension(isOwned: false) ?? .crashed
            return try await report(.suspended(cause), of: latest.snapshot)
        case .unknown: return try await report(.unknown, of: latest.snapshot)
        case let phase: return try await report(.ended(phase), of: latest.snapshot)
        }
    }

    // MARK: Ending

    /// Says how it ended, and gives the status.
    ///
    /// - Parameter changed: the items that were left alone although their rows say something else by now.
    func report(_ end: BatchRunner.End, of job: JobSnapshot, changed: [String] = []) async throws -> ExitStatus {
        let (key, id) = (job.record.key, job.record.id)
        // What its items are by now, whether their process told of it or not.
        let latest = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first?.snapshot
        guard let batch = latest?.batch else { return .failed }
        if end == .read { return .succeeded }
        let text = BatchText(key: key, batch: batch)
        var lines = [text.counts] + [text.leftAside].compactMap(\.self)
        let failures = try await journal.failures(of: id, limit: 10)
        for group in failures { lines.append(text.line(of: group)) }
        if options.isJSON {
            console.data(text.event(end.eventName, job.record, cause: end.cause, failures: failures))
        } else {
            for line in lines { console.note(line) }
        }
        switch end {
        case .ended(.succeeded):
            if batch.settings.spend != nil, batch.cost == nil, batch.count(.succeeded) > 0 {
                console.note("warning: \(BatchRecord.unpriced)")
            }
            return .succeeded
        case .ended(.cancelled):
            if let open = try await CancelledItemsNote.line(of: job, journal) { console.note(open) }
            // With nothing left to begin, it may be a few items that a person took out.
            let latest = try await journal.jobs(JobQuery(prefix: id.text)).first?.snapshot ?? job
            let name = Self.retriedStates(of: latest, nil).contains(.cancelled) ? key : "\(key)/ITEM"
            console.note(
                batch.outcome == nil
                    ? "batch \(key) was cancelled; what has not ended is begun with: pipeline retry \(key)"
                    : "what was cancelled is begun again with: pipeline retry \(name)")
            return .failed
        case .ended:
            console.note(try await FailedItemsWay(of: job, journal).line(failures, changed: changed))
            return .failed
        case .unknown:
            for line in try await UnknownItemsNote(of: id, text, journal, workspace).lines { console.note(line) }
            return .unknown
        case .unreadable(let error):
            return ErrorReport(CommandError(.invalid, error.message, hint: error.hint)).show(on: console)
        case .refused(let count):
            console.note("error: \(count) \(count == 1 ? "row is" : "rows are") bad, and --strict starts nothing then")
            return .invalid
        case .cut:
            console.note(text.cut)
            return .suspended
        case .read, .left: return .succeeded
        case .lost:
            console.note("error: another process has taken batch \(key) over")
            return .suspended
        case .suspended(let cause):
            console.note("suspended (\(batch.explanation(of: cause))); \(batch.invitation(after: cause, key))")
            if cause == .tooManyFailures || cause == .sameFailure {
                console.note("  hint: nothing more is begun until then; \(batch.remedy(of: failures, cause, key))")
            }
            return .suspended
        }
    }
}
