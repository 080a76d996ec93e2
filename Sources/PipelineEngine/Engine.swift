public import JSONPath
public import PipelineCore

/// Starts jobs and drives them to their end, any number at a time.
///
/// It knows no kind of stage, no HTTP and no database: a plan brings the stages, the ports bring the rest.
public struct Engine: Sendable {
    let ports: EnginePorts
    private let shelf: DurationHistoryCache?

    public init(ports: EnginePorts) {
        self.ports = ports
        shelf = ports.history.map { DurationHistoryCache($0) }
    }

    /// A job that this process owns and that is not yet driven.
    public struct JobHandle: Sendable {
        let driver: JobExecutor
        public let job: JobID

        /// The right to write to the job.
        public var lease: Lease { driver.lease }

        /// Drives the job until it ends, is let go, or is lost; called once.
        ///
        /// With `parking` it also comes back, as `.parked`, once nothing but a wait of at least that length is left:
        /// the job is still owned, and ``Engine/unpark(_:plan:secretInputs:)`` goes on with what ``parked`` gives.
        public func run(parking: Duration? = nil) async throws(JournalFailure) -> JobEnd {
            try await driver.run(parking: parking)
        }

        /// What is to be remembered of the job while it is parked; after ``run(parking:)`` gave `.parked`.
        public var parked: ParkedJob { get async { await driver.parked } }

        /// When what could not be told of the job is to be tried again by its next owner; nil when nothing is left.
        public var nextTelling: Timestamp? { get async { await driver.snapshot.nextTelling } }

        /// Lets the job go so that the next background owner goes on with it. From any thread.
        public func leave() { driver.mailbox.post(.stop(.leave)) }

        /// Lets the job go as soon as its stages have stopped; what they have is committed. From any thread.
        public func suspend(_ cause: SuspensionCause) { driver.mailbox.post(.stop(.suspend(cause))) }

        /// Cancels the job, at its services too. From any thread.
        public func cancel() { driver.mailbox.post(.stop(.cancel)) }

        /// Looks into the journal's inbox for what a person asked of the job. From any thread.
        public func checkInbox() { driver.mailbox.post(.inbox) }

        /// A person began to attend: what is held back of it is asked again at once. From any thread.
        public func take(_ attention: OwnerSignal) {
            switch attention {
            case .watched(let job): if job == nil || job == self.job { driver.mailbox.post(.watched) }
            case .fellBack(let pipeline): driver.mailbox.post(.fellBack(pipeline: pipeline))
            }
        }
    }

    /// Journals a new job; when this returns, a crash does not lose it.
    ///
    /// `secretInputs` are values of inputs that are kept nowhere but in memory. `attendance` says whether a person waits
    /// for the command; of a job in the background nobody does in any case.
    public func start(
        _ record: JobRecord, plan: Plan, mode: JobMode, attendance: Interactivity = .attended,
        secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> JobHandle {
        let found = await findOptionalSecrets(of: plan)
        var record = record
        record.foundSecrets = found.keys.sorted()
        let steps = (plan.stages + plan.finally).map { stage in
            (
                StepKey(stage: stage.id),
                StepRecord(
                    toleratesFailure: stage.continuesOnFailure.constant == true || stage.isFinal)
            )
        }
        var snapshot = JobSnapshot(record: record, steps: Dictionary(uniqueKeysWithValues: steps), mode: mode)
        let isHeld = attendance.isHeld(by: plan.definition.background, mode: mode)
        let begun = isHeld ? [] : await begin(plan, in: &snapshot, found, secretInputs)
        let events = ([nil] + begun).enumerated().map { number, step in
            JobEvent(
                sequence: number + 1, time: ports.clock.now, kind: step == nil ? .jobStarted : .stageStarted,
                job: record.id, pipeline: record.pipeline, step: step, attempt: step == nil ? nil : 1,
                data: step == nil ? attendance.data(mode) : [:])
        }
        if ports.sinks != nil, let started = events.first {
            let scope = snapshot.documentScope(environment: snapshot.environment, secretInputs: secretInputs)
            let law = NotificationLaw(plan.definition.notifications, in: scope)
            for record in law.records(for: started, of: snapshot) {
                snapshot.apply(.notification(record))
            }
        }
        let lease = try await ports.journal.create(snapshot, events: events, owner: ports.owner)
        for event in events { snapshot.apply(.event(event)) }
        let owned = drive(
            snapshot, plan, lease, secretInputs, begun: begun, secrets: found, attendance: attendance)
        for step in begun { owned.driver.outlet.hold(step) }
        owned.driver.outlet.take(events)
        return owned
    }

    /// The secrets that the document can do without and that are there: what begins with one is not to go on without
    /// it, and with what stands in its place.
    private func findOptionalSecrets(of plan: Plan) async -> [String: String] {
        var found: [String: String] = [:]
        for name in plan.secrets where plan.optionalSecrets.contains(name) {
            found[name] = await ports.secrets.secret(name)
        }
        return found
    }

    /// Begins the steps that need nothing but the job itself, so that it is kept in one transaction with their start:
    /// those whose settings are constants and which no rule of the background holds back.
    private func begin(
        _ plan: Plan, in snapshot: inout JobSnapshot, _ secrets: [String: String], _ secretInputs: JSONObject
    ) async -> [StepKey] {
        let now = ports.clock.now
        var begun: [StepKey] = []
        for case .begin(let key) in JobMachine(plan: plan).decisions(for: snapshot, at: now) {
            guard let stage = plan.stage(key.stage), stage.beginsWithJob,
                let (state, _) = try? snapshot.steps[key]?.state.apply(.started, at: now)
            else { continue }
            snapshot.steps[key]?.state = state
            snapshot.steps[key]?.started = now
            snapshot.steps[key]?.attempts = state.tries?.number ?? 1
            begun.append(key)
            guard let first = stage.stage.first else { continue }
            let scope = snapshot.scope(
                for: key, in: plan, environment: snapshot.environment, secrets: secrets, secretInputs: secretInputs)
            snapshot.steps[key]?.checkpoint = await StepRun.first(first, scope, snapshot.record.folders)
        }
        return begun
    }

    /// Journals a new job and lets it go at once, for a background owner to take up.
    public func submit(_ record: JobRecord, plan: Plan) async throws(JournalFailure) {
        let drive = try await start(record, plan: plan, mode: .background)
        try await ports.journal.release(drive.lease)
    }

    /// The same engine with other sources of secrets.
    public func with(secrets: any SecretSource) -> Engine {
        var ports = ports
        ports.secrets = secrets
        return Engine(ports: ports)
    }

    /// Takes up a job that nobody owns; `again` says which steps that have ended begin anew, `attendance` whether a person
    /// waits for the command.
    public func resume(
        _ job: JobID, plan: Plan, mode: JobMode, attendance: Interactivity = .attended, secretInputs: JSONObject = [:],
        again: RestartScope = .nothing, overwrites: Bool = false
    ) async throws(JournalFailure) -> JobHandle {
        try await take(job) { snapshot, lease throws(JournalFailure) in
            let owned = drive(snapshot, plan, lease, secretInputs, overwrites: overwrites, attendance: attendance)
            try await owned.driver.takeUp(mode, again)
            return owned
        }
    }

    /// Takes a job that nobody owns, to cancel it without a word to its services: driving it ends it at once, its
    /// `finally` too, and needs no secret.
    public func takeToEnd(_ job: JobID, plan: Plan) async throws(JournalFailure) -> JobHandle {
        try await take(job) { snapshot, lease throws(JournalFailure) in
            let owned = drive(snapshot, plan, lease, [:], duty: .end)
            try await owned.driver.takeUp(.attached, .nothing)
            return owned
        }
    }

    /// Takes a job that nobody owns, to send what is left of its notifications and nothing else: driving it comes back
    /// soon, with where the job stands.
    public func tell(
        _ job: JobID, plan: Plan, secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> JobHandle {
        try await take(job) { snapshot, lease throws(JournalFailure) in
            drive(snapshot, plan, lease, secretInputs, duty: .tell)
        }
    }

    private func take(
        _ job: JobID, for work: (JobSnapshot, Lease) async throws(JournalFailure) -> JobHandle
    ) async throws(JournalFailure) -> JobHandle {
        let lease = try await ports.journal.acquire(job, for: ports.owner)
        do throws(JournalFailure) {
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            return try await work(snapshot, lease)
        } catch {
            // A job that this process has and does not drive would wait for ever.
            try? await ports.journal.release(lease)
            throw error
        }
    }

    /// Goes on with a job that this process parked: what it is stands in the journal.
    public func unpark(
        _ job: ParkedJob, plan: Plan, secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> JobHandle {
        let id = job.lease.job
        guard let snapshot = try await ports.journal.snapshot(of: id) else { throw .noSuchJob(id) }
        return unpark(job, as: snapshot, plan: plan, secretInputs: secretInputs)
    }

    /// The same with what has just been read of the job.
    public func unpark(
        _ job: ParkedJob, as snapshot: JobSnapshot, plan: Plan, secretInputs: JSONObject = [:]
    ) -> JobHandle {
        drive(snapshot, plan, job.lease, secretInputs, resumes: job.resumes)
    }

    private func drive(
        _ snapshot: JobSnapshot, _ plan: Plan, _ lease: Lease, _ secretInputs: JSONObject, overwrites: Bool = false,
        resumes: ResumeWatch = ResumeWatch(), begun: [StepKey] = [], secrets: [String: String] = [:],
        duty: DriverDuty = .drive, attendance: Interactivity = .attended
    ) -> JobHandle {
        let driver = JobExecutor(
            snapshot: snapshot, plan: plan, lease: lease, ports: ports, secretInputs: secretInputs,
            overwrites: overwrites, resumes: resumes, shelf: shelf, begun: begun, secrets: secrets,
            duty: duty, attendance: attendance)
        return JobHandle(driver: driver, job: snapshot.record.id)
    }
}

extension PlannedStage {
    /// Whether nothing must be found out before it begins.
    fileprivate var beginsWithJob: Bool {
        condition == nil && forEach == nil && renews == nil && hasConstantSettings
    }

    /// Whether what the document says around its work is the same for every job.
    var hasConstantSettings: Bool {
        retries.isConstant && continuesOnFailure.constant != nil && discretionary.constant != nil
            && (deadline == nil || deadline?.constant != nil)
    }
}
