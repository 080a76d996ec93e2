import PipelineCore
import PipelineEngine
import PipelineKit
import Synchronization

/// The jobs of a worker: claimed from a journal that many machines share as there is room for them.
final class ClaimedJobs: JobSource {
    private let jobs: DaemonJobs
    private let journal: any SharedJournal
    private let atOnce: Int
    private let clock: any WallClock
    /// The answer to whether the last look left jobs out, for want of room.
    private let mayHaveMore = Mutex(true)
    private let (rooms, room) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(_ jobs: DaemonJobs, _ journal: any SharedJournal, atOnce: Int, clock: any WallClock) {
        self.jobs = jobs
        self.journal = journal
        self.atOnce = atOnce
        self.clock = clock
    }

    /// Makes this process a worker.
    func begin() async throws(JournalFailure) { try await journal.becomeWorker(atOnce: atOnce) }

    /// Claims jobs for the scheduler: when others tell of work, now and then, and as room comes.
    func run(for scheduler: JobScheduler, _ log: DaemonLog) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                var looks = 0
                var untold = UntoldJobs()
                for await _ in journal.work() {
                    looks += 1
                    // The first comes before it is known.
                    if looks == 2, !journal.isHearing { log.note(Self.deafness) }
                    mayHaveMore.withLock { $0 = true }
                    room.yield()
                    let found = (try? await journal.untoldJobs()) ?? []
                    for job in untold.left(of: found, at: clock.elapsed) { scheduler.take(job) }
                }
            }
            for await _ in rooms {
                guard !Task.isCancelled else { break }
                guard mayHaveMore.withLock({ $0 }) else { continue }
                let free = atOnce - scheduler.counts.driven
                guard free > 0 else { continue }
                do throws(JournalFailure) {
                    let claimed = try await journal.claimJobs(free, at: clock.now)
                    mayHaveMore.withLock { $0 = claimed.count >= free }
                    for job in claimed { scheduler.take(job) }
                } catch {
                    log.note("no job can be claimed: \(error)")
                }
            }
            group.cancelAll()
        }
    }

    private static let deafness =
        "a pooler swallows messages of other processes, which are found every 5 s then; PIPELINE_JOURNAL_LISTEN may name "
        + "the server itself"

    // MARK: What the scheduler asks

    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle? {
        // What something came for without a claim, as for a batch that was just let go, is not declined: once it may go
        // on, it is claimed.
        let isClaimed = journal.isClaimed(job)
        do throws(JournalFailure) {
            if let handle = try await jobs.takeUp(job) { return handle }
        } catch {
            if isClaimed { try? await journal.decline(job) }
            throw error
        }
        // A batch is run by this process from now on, and no job of the scheduler's. What was suspended instead is left alone
        // for that.
        if journal.isClaimed(job), jobs.batches.runner(of: job) == nil { try await journal.decline(job) }
        return nil
    }

    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle { try await jobs.unpark(job) }

    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async {
        await jobs.ended(job, result, as: snapshot)
        // The scheduler takes it up again by itself; a worker that claims it until then may have it.
        if case .failure(let failure) = result, failure.mayPass { try? await journal.decline(job) }
        room.yield()
    }
}
