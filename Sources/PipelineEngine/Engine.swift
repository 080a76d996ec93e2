package import JSONPath
package import PipelineCore

/// Starts jobs and runs them to their end, any number at a time.
///
/// It knows no kind of stage, no HTTP and no database: a plan brings the stages, the ports bring the rest.
package struct Engine: Sendable {
    private(set) var ports: EnginePorts
    private let history: DurationHistoryCache?

    package init(ports: EnginePorts) {
        self.ports = ports
        history = ports.history.map { DurationHistoryCache($0, owner: ports.owner) }
    }

    /// A job that this process owns and that is not yet run.
    package struct JobHandle: Sendable {
        let executor: JobExecutor
        package let job: JobID
        /// The right to write to the job.
        package let lease: Lease

        /// Runs the job until it ends, is let go, or is lost; called once.
        ///
        /// With `parking` it also comes back, as `.parked`, once nothing but a wait of at least that length is left: the
        /// job is still owned, and ``Engine/unpark(_:_:)`` goes on with what ``parked`` gives.
        package func run(parking: Duration? = nil) async throws(JournalFailure) -> JobEnd {
            try await executor.run(parking: parking)
        }

        /// The memory that stays of the job while it is parked; after ``run()`` gave `.parked`.
        package var parked: ParkedJob {
            get async { await executor.parked }
        }

        /// The job as it stands.
        package var snapshot: JobSnapshot { get async { await executor.snapshot } }

        /// Lets the job go so that the next background owner goes on with it. From any thread.
        package func leave() { executor.mailbox.post(.stop(.leave)) }

        /// Lets the job go as soon as its stages have stopped; what they have is committed. From any thread.
        package func suspend(_ cause: SuspensionCause) { executor.mailbox.post(.stop(.suspend(cause))) }

        /// Cancels the job, at its services too. From any thread.
        package func cancel() { executor.mailbox.post(.stop(.cancel)) }

        /// Looks into the journal's inbox for what a person asked of the job. From any thread.
        package func checkInbox() { executor.mailbox.post(.inbox) }

        /// A person began to attend: what is held back of it is asked again at once. From any thread.
        package func take(_ attention: OwnerSignal) {
            switch attention {
            case .watched(let job): if job == nil || job == self.job { executor.mailbox.post(.watched) }
            case .delaysReset(let pipeline): executor.mailbox.post(.delaysReset(pipeline: pipeline))
            }
        }
    }

    /// Journals a new job; when this returns, a crash does not lose it.
    ///
    /// `secretInputs` are values of inputs that are kept nowhere but in memory. `interactivity` says whether a person waits
    /// for the command; of a job in the background nobody does in any case.
    package func start(
        _ record: JobRecord, plan: Plan, mode: JobMode, interactivity: Interactivity = .attended,
        secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> JobHandle {
        try await create(record, plan, mode, interactivity, secretInputs, begins: true)
    }

    private func create(
        _ record: JobRecord, _ plan: Plan, _ mode: JobMode, _ interactivity: Interactivity, _ secretInputs: JSONObject,
        begins: Bool
    ) async throws(JournalFailure) -> JobHandle {
        let found = await findOptionalSecrets(of: plan)
        var record = record
        record.beginning.foundSecrets = found.keys.sorted()
        record.beginning.inputDigest = await inputDigest(of: record, plan)
        let steps = (plan.stages + plan.finally).map { stage in
            (
                StepKey(stage: stage.id),
                StepRecord(toleratesFailure: stage.continuesOnFailure.constant == true || stage.isFinal)
            )
        }
        let snapshot = JobSnapshot(record: record, steps: Dictionary(uniqueKeysWithValues: steps), mode: mode)
        let lease = Lease(job: record.id, owner: ports.owner, epoch: 0)
        // What begins with the job is foretold from them.
        var marks = EstimateMarks()
        if begins { marks.samples = await history?.samples(of: record.pipeline, at: ports.clock.now) ?? [:] }
        let executor = executor(
            snapshot, plan, lease, secretInputs, secrets: found, settings: settings(interactivity), marks: marks)
        return JobHandle(executor: executor, job: record.id, lease: try await executor.create(begins: begins))
    }

    /// What the inputs are, with what stands in their files at this moment.
    private func inputDigest(of record: JobRecord, _ plan: Plan) async -> String? {
        guard let digest = InputDigest(of: record, plan: plan) else { return nil }
        var contents: [String: String] = [:]
        for path in digest.files { contents[path] = await ports.files.contentDigest(ofFileAt: path) }
        return digest.value(of: contents)
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

    /// Journals a new job and lets it go at once, for a background owner to take up.
    package func submit(_ record: JobRecord, plan: Plan) async throws(JournalFailure) {
        let job = try await create(record, plan, .background, .attended, [:], begins: false)
        try await ports.journal.release(job.lease)
    }

    /// The engine with other sources of secrets.
    package func with(secrets: any SecretSource) -> Engine {
        var engine = self
        engine.ports.secrets = secrets
        return engine
    }

    /// Takes up a job that nobody owns; `again` says which steps that have ended begin again, `interactivity` whether a person
    /// waits for the command.
    package func resume(
        _ job: JobID, plan: Plan, mode: JobMode, interactivity: Interactivity = .attended,
        secretInputs: JSONObject = [:],
        again: RestartScope = .nothing, overwrites: Bool = false
    ) async throws(JournalFailure) -> JobHandle {
        try await acquire(job) { snapshot, lease throws(JournalFailure) in
            let executor = executor(
                snapshot, plan, lease, secretInputs, overwrites: overwrites, settings: settings(interactivity))
            try await executor.takeUp(mode, again)
            return executor
        }
    }

    /// Takes a job that nobody owns, to cancel it without a word to its services: running it ends it at once, its
    /// `finally` too, and needs no secret.
    package func takeToEnd(_ job: JobID, plan: Plan) async throws(JournalFailure) -> JobHandle {
        try await acquire(job) { snapshot, lease throws(JournalFailure) in
            let executor = executor(
                snapshot, plan, lease, [:], purpose: .abandon, settings: settings(.attended))
            try await executor.takeUp(.attached, .nothing)
            return executor
        }
    }

    /// Takes a job that nobody owns, to send what is left of its notifications and nothing else: running it comes back
    /// soon, with where the job stands.
    package func deliverNotifications(
        of job: JobID, plan: Plan, secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> JobHandle {
        try await acquire(job) { snapshot, lease throws(JournalFailure) in
            executor(snapshot, plan, lease, secretInputs, purpose: .notify, settings: settings(.attended))
        }
    }

    private func acquire(
        _ job: JobID, for work: (JobSnapshot, Lease) async throws(JournalFailure) -> JobExecutor
    ) async throws(JournalFailure) -> JobHandle {
        try await withLease(of: job) { lease throws(JournalFailure) in
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            return JobHandle(executor: try await work(snapshot, lease), job: job, lease: lease)
        }
    }

    /// Takes a job that nobody owns and does something with it; when that fails the job is let go: one that this process has
    /// and does not run would wait forever.
    private func withLease<Value>(
        of job: JobID, _ work: (Lease) async throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        let lease = try await ports.journal.acquire(job, for: ports.owner)
        do throws(JournalFailure) {
            return try await work(lease)
        } catch {
            try? await ports.journal.release(lease)
            throw error
        }
    }

    /// Goes on with a job that this process parked: what it is stands in the journal, and `begin` makes a handle of that
    /// with ``unpark(_:as:plan:secretInputs:)``. When it can't, which was possible before, the job is let go.
    package func unpark(
        _ job: ParkedJob, _ begin: (JobSnapshot) async throws -> JobHandle
    ) async throws(JournalFailure) -> JobHandle {
        let id = job.lease.job
        let failure: any Error
        do {
            guard let snapshot = try await ports.journal.snapshot(of: id) else { throw JournalFailure.noSuchJob(id) }
            return try await begin(snapshot)
        } catch {
            failure = error
        }
        try? await ports.journal.release(job.lease)
        if let failure = failure as? JournalFailure { throw failure }
        let reason = (failure as? DefinitionError)?.report ?? "\(failure)"
        throw .other("job \(id) can't be gone on with: \(reason)")
    }

    /// Returns the handle of a job that this process parked, made from what has just been read of it.
    package func unpark(
        _ job: ParkedJob, as snapshot: JobSnapshot, plan: Plan, secretInputs: JSONObject = [:]
    ) -> JobHandle {
        let executor = executor(
            snapshot, plan, job.lease, secretInputs, overwrites: job.overwrites,
            settings: settings(job.interactivity), watch: job.watch, marks: job.marks, since: job.reading)
        return JobHandle(executor: executor, job: snapshot.record.id, lease: job.lease)
    }

    /// Settles an unknown submit in the ledger; the job goes on with the next resume. Throws `.conflict` when the step
    /// is not unknown by now.
    package func resolve(
        _ job: JobID, _ key: StepKey, plan: Plan, as resolution: Resolution
    ) async throws(JournalFailure) {
        try await withLease(of: job) { lease throws(JournalFailure) in
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            let executor = executor(snapshot, plan, lease, [:], settings: settings(.attended))
            try await executor.resolve(key, resolution)
        }
    }

    /// Has what steps of a job that has ended left at their services removed there; else the job stays as it is. Returns
    /// whether something is left still: events of the steps say why.
    package func removeLeft(
        by job: JobID, plan: Plan, secretInputs: JSONObject
    ) async throws(JournalFailure) -> Bool {
        try await withLease(of: job) { lease throws(JournalFailure) in
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            let executor = executor(snapshot, plan, lease, secretInputs, settings: settings(.attended))
            let isLeft = try await executor.removeLeft()
            try await ports.journal.release(lease)
            return isLeft
        }
    }

    /// Marks a job that nobody owns as paused, so that no background owner takes it up.
    package func pause(_ job: JobID) async throws(JournalFailure) {
        _ = try await letGo(job, .paused) { _ in true }
    }

    /// Has a job that nobody owns wait for a program that knows all that its document names, and says what this one lacks;
    /// false for a job that waits for that already.
    package func suspend(_ job: JobID, lacking detail: String) async throws(JournalFailure) -> Bool {
        try await letGo(job, .extension, detail: detail) { $0.cause != .extension }
    }

    private func letGo(
        _ job: JobID, _ cause: SuspensionCause, detail: String? = nil, if isWanted: (JobSnapshot) -> Bool
    ) async throws(JournalFailure) -> Bool {
        try await withLease(of: job) { lease throws(JournalFailure) in
            guard let snapshot = try await ports.journal.snapshot(of: job), snapshot.ended == nil, isWanted(snapshot)
            else {
                try await ports.journal.release(lease)
                return false
            }
            let changes = snapshot.letGo(cause, detail: detail, at: JobMoment(ports.clock.reading))
            try await ports.journal.commit(changes, under: lease)
            for case .event(let event) in changes { ports.observe(event) }
            return true
        }
    }

    private func settings(_ interactivity: Interactivity) -> JobSettings {
        var settings = JobSettings()
        settings.interactivity = interactivity
        settings.hasLimiter = ports.gate != nil
        settings.hasSinks = ports.sinks != nil
        return settings
    }

    private func executor(
        _ snapshot: JobSnapshot, _ plan: Plan, _ lease: Lease, _ secretInputs: JSONObject,
        secrets: [String: String] = [:], overwrites: Bool = false, purpose: JobPurpose = .run,
        settings: JobSettings, watch: ResumeWatch = ResumeWatch(), marks: EstimateMarks = EstimateMarks(),
        since: ClockReading? = nil
    ) -> JobExecutor {
        let values = JobValues(
            environment: snapshot.environment, secretInputs: secretInputs, secrets: secrets, seal: ports.seal,
            callbackURL: ports.callbackURL)
        let table = JobTable(snapshot, plan: plan, values: values, at: JobMoment(since ?? ports.clock.reading))
        let state = JobState(table, settings: settings, watch: watch, marks: marks)
        let options = JobExecutor.Options(
            purpose: purpose, overwrites: overwrites,
            history: HistoryRecorder(cache: history, job: snapshot.record.id, pipeline: snapshot.record.pipeline))
        return JobExecutor(state, lease: lease, ports: ports, options: options)
    }
}
