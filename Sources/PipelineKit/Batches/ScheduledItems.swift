package import JSONPath
package import PipelineCore
package import PipelineEngine
import Synchronization

/// The items of one batch on a scheduler of their own: how a command runs a batch that it stays with.
package final class ScheduledItems: JobSource, ItemHost {
    /// How the jobs are run.
    package struct Ports: Sendable {
        package var engine: Engine
        package var journal: any Journal
        package var clock: any WallClock
        /// The plan of a job, which may be of a document that the batch had before.
        package var plan: @Sendable (JobRecord) async throws(DefinitionError) -> Plan
        package var secretInputs: JSONObject
        package var interactivity = Interactivity.attended
        package var overwrites = false
        /// How many are at work at a time; those that only wait are not counted.
        package var concurrency = 64
        /// Told of each item that is gone on with, and which of its stages begin as if they had never run. From any thread.
        package var resumed: @Sendable (JobSnapshot, Set<String>) -> Void = { _, _ in }

        package init(
            engine: Engine, journal: any Journal, clock: any WallClock, secretInputs: JSONObject = [:],
            plan: @escaping @Sendable (JobRecord) async throws(DefinitionError) -> Plan
        ) {
            self.engine = engine
            self.journal = journal
            self.clock = clock
            self.secretInputs = secretInputs
            self.plan = plan
        }
    }

    private let ports: Ports
    private let runner: BatchRunner
    /// Set as soon as it is made: it asks back.
    private let owned = Mutex<JobScheduler?>(nil)
    /// How many are at work.
    private let working = Mutex(0)
    /// Told once the scheduler has come to its end.
    private let stopped = Mailbox<Void>()

    package init(_ runner: BatchRunner, _ ports: Ports) {
        self.runner = runner
        self.ports = ports
        let limits = JobScheduler.Limits.command(concurrency: ports.concurrency)
        owned.withLock { $0 = JobScheduler(self, clock: ports.clock, limits: limits) }
    }

    private var scheduler: JobScheduler? { owned.withLock { $0 } }

    /// Runs the batch until nothing is left of it or it is let go.
    package func run() async throws(JournalFailure) -> BatchRunner.End {
        guard let scheduler else { return .lost }
        defer { owned.withLock { $0 = nil } }
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { [stopped] in
                await scheduler.run()
                stopped.post(())
            }
            let end: Result<BatchRunner.End, JournalFailure>
            do throws(JournalFailure) {
                end = .success(try await runner.run(on: self))
            } catch {
                end = .failure(error)
            }
            scheduler.close()
            return end
        }
        return try end.get()
    }

    /// Something came for the batch or for one of its items. From any thread.
    package func knock(_ job: JobID) {
        if job == runner.subject.lease.job { runner.look() } else { scheduler?.knock(job) }
    }

    /// A person attends to items. From any thread.
    package func take(_ attention: OwnerSignal) { scheduler?.take(attention) }

    // MARK: What the batch asks

    package func begin(_ record: JobRecord, _ draft: JobDraft) async throws(JournalFailure) {
        let handle = try await ports.engine.start(
            record, plan: draft.plan, mode: .attached, interactivity: ports.interactivity,
            secretInputs: draft.secretInputs)
        adopt(handle)
    }

    package func retry(_ job: JobID, _ again: RestartScope) async throws(JournalFailure) {
        guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
        adopt(try await resume(snapshot, again: snapshot.ended == nil ? .nothing : again))
    }

    package func goOn(_ job: JobID) { scheduler?.take(job) }

    package var runsHere: Bool { true }

    package var retakesRefused: Bool { false }

    package var room: Int { ports.concurrency - working.withLock { $0 } }

    package func interrupt() async {
        scheduler?.suspend(.interrupted)
        await stopped.next()
        stopped.post(())
    }

    private func adopt(_ handle: Engine.JobHandle) {
        working.withLock { $0 += 1 }
        scheduler?.adopt(handle)
    }

    private func resume(
        _ job: JobSnapshot, again: RestartScope
    ) async throws(JournalFailure) -> Engine.JobHandle {
        let plan = try await plan(of: job.record)
        let again = again.known(in: plan)
        ports.resumed(job, again.begunAnew(in: plan))
        return try await ports.engine.resume(
            job.record.id, plan: plan, mode: .attached, interactivity: ports.interactivity,
            secretInputs: ports.secretInputs, again: again, overwrites: ports.overwrites)
    }

    private func plan(of record: JobRecord) async throws(JournalFailure) -> Plan {
        do throws(DefinitionError) {
            return try await ports.plan(record)
        } catch {
            throw .other("the document of job \(record.id) can't be read any more")
        }
    }

    // MARK: What the scheduler asks

    package func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        working.withLock { $0 += 1 }
        guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
        let isUnknown = snapshot.phase(isOwned: false) == .unknown
        // What is unknown waits for a person, unless all of it is to be cancelled.
        if snapshot.ended == nil, !isUnknown || snapshot.request == .cancel {
            let handle = try await runner.takeUp(snapshot, by: ports.engine) { () throws(JournalFailure) in
                try await resume(snapshot, again: .nothing)
            }
            if handle == nil { working.withLock { $0 -= 1 } }
            return handle
        }
        working.withLock { $0 -= 1 }
        runner.rested(job, item: nil, .success(.lost))
        return nil
    }

    package func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle {
        working.withLock { $0 += 1 }
        return try await ports.engine.unpark(job) { snapshot in
            ports.engine.unpark(
                job, as: snapshot, plan: try await ports.plan(snapshot.record), secretInputs: ports.secretInputs)
        }
    }

    package func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        working.withLock { $0 -= 1 }
        runner.rested(job, item: snapshot?.record.item?.key, result)
    }
}
