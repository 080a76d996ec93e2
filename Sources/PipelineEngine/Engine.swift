public import JSONPath
public import PipelineCore

/// Starts jobs and drives them to their end, any number at a time.
///
/// It knows no kind of stage, no HTTP and no database: a plan brings the stages, the ports bring the rest.
public struct Engine: Sendable {
    let ports: EnginePorts
    private let shelf: HistoryShelf?

    public init(ports: EnginePorts) {
        self.ports = ports
        shelf = ports.history.map { HistoryShelf($0) }
    }

    /// A job that this process owns and that is not yet driven.
    public struct OwnedDrive: Sendable {
        let driver: JobDriver
        public let job: JobID

        /// Drives the job until it ends, is let go, or is lost; called once.
        public func run() async throws(JournalFailure) -> JobEnd { try await driver.run() }

        /// Lets the job go as soon as its stages have stopped; what they have is committed. From any thread.
        public func suspend(_ cause: SuspensionCause) { driver.mailbox.post(.stop(.suspend(cause))) }

        /// Cancels the job, at its services too. From any thread.
        public func cancel() { driver.mailbox.post(.stop(.cancel)) }

        /// Looks into the journal's inbox for what a person asked of the job. From any thread.
        public func checkInbox() { driver.mailbox.post(.inbox) }
    }

    /// Journals a new job; when this returns, a crash does not lose it.
    ///
    /// `secretInputs` are values of inputs that are kept nowhere but in memory.
    public func start(
        _ record: JobRecord, plan: Plan, mode: JobMode, secretInputs: JSONObject = [:]
    ) async throws(JournalFailure) -> OwnedDrive {
        let steps = (plan.stages + plan.finally).map { stage in
            (StepKey(stage: stage.id), StepRecord(toleratesFailure: stage.continuesOnFailure || stage.isFinal))
        }
        var snapshot = JobSnapshot(record: record, steps: Dictionary(uniqueKeysWithValues: steps), mode: mode)
        let event = JobEvent(
            sequence: 1, time: ports.clock.now, kind: .jobStarted, job: record.id, pipeline: record.pipeline)
        let lease = try await ports.journal.create(snapshot, events: [event], owner: ports.owner)
        ports.observe(event)
        snapshot.apply(.event(event))
        return drive(snapshot, plan, lease, secretInputs)
    }

    /// Takes up a job that nobody owns; `again` says which steps that have ended begin anew.
    public func resume(
        _ job: JobID, plan: Plan, mode: JobMode, secretInputs: JSONObject = [:], again: Again = .nothing,
        overwrites: Bool = false
    ) async throws(JournalFailure) -> OwnedDrive {
        let lease = try await ports.journal.acquire(job, for: ports.owner)
        do throws(JournalFailure) {
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            let owned = drive(snapshot, plan, lease, secretInputs, overwrites: overwrites)
            try await owned.driver.takeUp(mode, again)
            return owned
        } catch {
            // A job that this process has and does not drive would wait for ever.
            try? await ports.journal.release(lease)
            throw error
        }
    }

    private func drive(
        _ snapshot: JobSnapshot, _ plan: Plan, _ lease: Lease, _ secretInputs: JSONObject, overwrites: Bool = false
    ) -> OwnedDrive {
        let driver = JobDriver(
            snapshot: snapshot, plan: plan, lease: lease, ports: ports, secretInputs: secretInputs,
            overwrites: overwrites, shelf: shelf)
        return OwnedDrive(driver: driver, job: snapshot.record.id)
    }
}
