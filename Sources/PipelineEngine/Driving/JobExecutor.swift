import JSONPath
import PipelineCore

/// Drives one job: asks the machine, commits, acts, publishes, and waits for what comes next.
///
/// It is the only writer of its job. Its memory is a fold of what it committed; a commit that fails ends it, so that
/// nothing is ever done from a state that is not on disk.
actor JobExecutor {
    nonisolated let mailbox = Mailbox<ExecutorMessage>()
    /// What services said of their ends.
    nonisolated let reports: ReportBook
    /// How long stages took before; nil when nobody remembers.
    let shelf: DurationHistoryCache?
    /// The samples of the job's pipeline, by stage, as they were when it was taken up.
    var past: [String: [StageSample]] = [:]
    let plan: Plan
    let lease: Lease
    /// The lease that commits are made under: another one once the job has been let go and its last notifications are
    /// sent.
    var writing: Lease
    /// Whether a person waits for the command that drives the job.
    let attendance: Interactivity
    /// What the job is taken up for.
    let duty: DriverDuty
    var telling = Telling()
    /// Whether somebody is to be told when the job is expected to end.
    nonisolated let tellsExpectations: Bool
    let ports: EnginePorts
    /// Values of inputs that are kept nowhere else.
    let secretInputs: JSONObject
    let overwrites: Bool
    var snapshot: JobSnapshot
    /// The calls of stages that are under way.
    var runs: [StepKey: StepRun] = [:]
    /// Steps that are running and whose stage is to be called: at once again, or for the first time.
    var continuing: Set<StepKey> = []
    /// Set once everything is to stop.
    var stop: StopRequest?
    /// Whether the job was cancelled and its `finally` runs.
    var isFinishing = false
    /// How many items of a repeated stage may run at a time, where the document says it.
    var rooms: [String: Int] = [:]
    var lane = CommitQueue()
    /// Where committed events go.
    nonisolated let outlet: EventPublisher
    var secrets: [String: String] = [:]
    /// Bytes of requests that no commit has counted yet.
    nonisolated let passing = PassingBytes()
    /// What stages said of their ends at services, and no commit has kept yet.
    nonisolated let limits = NotedLimits()
    nonisolated let redactor = SharedRedactor()
    /// What keeps secrets out of captured values; nil when there are none.
    var sealing: CaptureSealing?
    /// The secrets that captured values may be sealed under, the latest of a name last.
    var sealedUnder: [(name: String, value: String)] = []
    /// Whether a captured value of the job may be sealed: mostly none is, and then none is looked through.
    var holdsSealed = false
    var environment: [String: String?] = [:]
    /// The keys of steps before their first submit: a digest each, asked for at every evaluation.
    var firstKeys: [StepKey: String] = [:]
    /// What is known of the job's getting control back.
    var resumes: ResumeWatch
    /// The moments that a timer waits for: one for each, so that a wait of days beside many short ones costs one.
    private var armed: Set<Timestamp> = []
    /// How long a wait must be for the job to be parked; nil when it never is.
    private var parking: Duration?

    init(
        snapshot: JobSnapshot, plan: Plan, lease: Lease, ports: EnginePorts, secretInputs: JSONObject, overwrites: Bool,
        resumes: ResumeWatch = ResumeWatch(), shelf: DurationHistoryCache? = nil, begun: [StepKey] = [],
        secrets: [String: String] = [:], duty: DriverDuty = .drive, attendance: Interactivity = .attended
    ) {
        self.attendance = attendance
        self.duty = duty
        self.secrets = secrets
        tellsExpectations = ports.sinks != nil && NotificationLaw.asksEstimate(plan.definition.notifications)
        writing = lease
        continuing = Set(begun)
        self.resumes = resumes
        self.shelf = shelf
        reports = resumes.reports
        self.snapshot = snapshot
        self.plan = plan
        self.lease = lease
        self.ports = ports
        outlet = EventPublisher(observe: ports.observe)
        self.secretInputs = secretInputs
        self.overwrites = overwrites || snapshot.record.overwrites
        for member in snapshot.record.environment { environment[member.name] = member.value.string }
    }

    /// Drives the job until it ends, is let go or is lost; or, with `parking`, until all that is left of it is to wait
    /// longer than that.
    func run(parking: Duration? = nil) async throws(JournalFailure) -> JobEnd {
        self.parking = parking
        defer {
            outlet.close()
            ports.exchanges.flush(snapshot.record.id)
        }
        if duty == .tell { return await tellOnly() }
        if let missing = await readSecrets(), !isOver { return try await letGo(.secret, detail: missing) }
        past = await shelf?.samples(of: snapshot.record.pipeline, at: ports.clock.now) ?? [:]
        let result = await withTaskGroup(of: Void.self) { group -> Result<JobEnd, JournalFailure> in
            defer { group.cancelAll() }
            do throws(JournalFailure) {
                return .success(try await loop(&group))
            } catch {
                stopRuns()
                return .failure(error)
            }
        }
        if case .failure(.stale) = result { return .lost }
        if case .failure(let failure) = result {
            // Nobody drives the job any more: another owner may, when the journal takes writes again.
            try? await ports.journal.release(lease)
            throw failure
        }
        return try result.get()
    }

    /// Sends what is left to be told, and lets the job go as it was.
    private func tellOnly() async -> JobEnd {
        _ = await readSecrets()
        await withTaskGroup(of: Void.self) { group in
            try? await tellDue(&group, for: Self.lastPatience)
            group.cancelAll()
        }
        try? await ports.journal.release(lease)
        if snapshot.ended != nil { return .ended(snapshot.outcome) }
        return snapshot.phase(isOwned: false) == .unknown ? .unknown : .suspended(snapshot.cause ?? .crashed)
    }

    /// Whether nothing of the job is left to do that could need a secret.
    private var isOver: Bool {
        duty == .end || JobMachine(plan: plan).isOver(snapshot, at: ports.clock.now)
    }

    private func loop(_ group: inout TaskGroup<Void>) async throws(JournalFailure) -> JobEnd {
        let end = try await work(&group)
        if case .parked = end { return end }
        await tellRest(&group)
        return end
    }

    private func work(_ group: inout TaskGroup<Void>) async throws(JournalFailure) -> JobEnd {
        // What a person asked for while nobody was there to hear it.
        try await readInbox()
        if duty == .end {
            isFinishing = true
            begin(.cancel)
        }
        while true {
            // All that has come is taken in before anything new begins.
            while let message = mailbox.poll() { try await receive(message) }
            if isHeldBack { try await noteWatching() }
            if stop == nil { try await keepDeadlines() }
            if stop == nil { try await enterResume() }
            if stop == nil { goOn(&group) }
            if stop == nil { try await decide(&group) }
            if runs.isEmpty, stop != nil || !isHeldBack {
                if let end = try await end() { return end }
                // What was cancelled may have made way for `finally`.
                if isFinishing, stop == nil {
                    try await decide(&group)
                    if runs.isEmpty, let end = try await end() { return end }
                }
            }
            try await expect()
            try await keepStaged()
            if stop == nil { tell(&group) }
            resumes.settle()
            if let moment = parkingMoment() { return .parked(until: moment.time) }
            armTimer(&group)
            outlet.acted(onAllBut: runs.keys)
            try await receive(await mailbox.next())
        }
    }

    private func receive(_ message: ExecutorMessage) async throws(JournalFailure) {
        switch message {
        case .ended(let key, let result):
            let run = runs.removeValue(forKey: key)
            resumes.inside.remove(key)
            telling.mayHaveMoved = true
            try await handle(result, of: key, began: run?.began ?? ports.clock.now)
        case .heard: telling.mayHaveMoved = true
        case .authenticates(let key): try await countAuthentication(of: key)
        case .told(let id, let result): try await toldResult(id, result)
        case .tick(let time): armed.remove(time)
        case .watched: try await noteWatching()
        case .fellBack(let pipeline): if pipeline == snapshot.record.pipeline { resumes.heldUntil = nil }
        case .inbox: try await readInbox()
        case .stop(let stop): begin(stop)
        }
    }

    private func decide(_ group: inout TaskGroup<Void>) async throws(JournalFailure) {
        var decisions = try await released(
            JobMachine(plan: plan, rooms: rooms).decisions(for: snapshot, at: ports.clock.now))
        while !decisions.isEmpty, stop == nil {
            for decision in decisions {
                switch decision {
                case .begin(let key): try await beginStep(key, &group)
                case .skip(let key): try await change(key, .skipped)
                case .wake(let key): try await wake(key, &group)
                case .expand(let key): try await expand(key)
                case .gather(let key): try await gather(key)
                }
            }
            decisions = try await released(
                JobMachine(plan: plan, rooms: rooms).decisions(for: snapshot, at: ports.clock.now))
        }
    }

    /// The end, when nothing runs and nothing more comes by itself.
    private func end() async throws(JournalFailure) -> JobEnd? {
        switch stop {
        case .suspend(let cause): return try await letGo(cause, detail: nil)
        case .leave: return try await letGo(.interrupted, detail: nil, isLeft: true)
        case .cancel: return try await cancelAll()
        case nil: break
        }
        switch JobMachine(plan: plan).rest(of: snapshot) {
        case .ended(let phase): return try await close(phase)
        case .unknown: return try await letGoUnknown()
        case .needsResume:
            let (cause, detail) = snapshot.wantedResume
            return try await letGo(cause, detail: detail)
        case nil: return nil
        }
    }

    func begin(_ wanted: StopRequest) {
        // A cancellation is never weakened to a suspension; a suspension becomes a cancellation.
        if stop != .cancel { stop = wanted }
        stopRuns()
    }

    /// In order of their names, so that a simulation's seed fixes what happens.
    private func stopRuns() {
        for (_, run) in runs.sorted(by: { $0.key < $1.key }) { run.stop() }
    }

    private func readInbox() async throws(JournalFailure) {
        guard let latest = try await ports.journal.inbox(of: snapshot.record.id) else { return }
        snapshot.pushes = latest.pushes
        switch latest.request {
        case .cancel: begin(.cancel)
        case .pause: begin(.suspend(.paused))
        case nil: break
        }
    }

    /// The next moment at which something is due, a deadline and a notification too: those are held back by nothing.
    private var nextTime: Timestamp? {
        let wake = resumes.next(JobMachine(plan: plan).nextWake(of: snapshot), at: ports.clock.now)
        return [wake, nextDeadline, nextNotification].compactMap { $0 }.min()
    }

    /// When the job is to be driven again, if all of it waits for long enough to be forgotten until then.
    private func parkingMoment() -> ParkingMoment? {
        guard let parking, stop == nil, runs.isEmpty, mailbox.isEmpty, telling.sending.isEmpty else { return nil }
        let time = nextTime
        if let time, time - ports.clock.now < parking { return nil }
        return ParkingMoment(time: time)
    }

    /// What is to be remembered while nobody drives the job.
    var parked: ParkedJob {
        ParkedJob(lease: lease, resumes: resumes, of: snapshot, mustActBefore: snapshot.mustActBefore(in: plan))
    }

    private func armTimer(_ group: inout TaskGroup<Void>) {
        guard stop == nil, let time = nextTime, armed.insert(time).inserted else { return }
        group.addTask { [mailbox, clock = ports.clock] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            mailbox.post(.tick(time))
        }
    }
}

/// When a parked job is to be driven again; nil when only something from outside moves it on.
private struct ParkingMoment {
    let time: Timestamp?
}
