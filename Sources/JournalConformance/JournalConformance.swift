import PipelineCore

/// One promise of the port of journals, ``PipelineCore/Journal``, which any implementation can be held against.
///
/// The journals of this package are held against all of them. Who writes another one makes a ``JournalWorld`` of it, and has
/// a test of any framework look at what is broken:
/// ```swift
/// let violations = await JournalConformance.violations { MyWorld() }
/// precondition(violations.isEmpty, violations.joined(separator: "\n"))
/// ```
/// ``all`` has the promises one by one, for a framework that shows a test for each.
public struct JournalConformance: Sendable, CustomStringConvertible {
    typealias Trial = @Sendable (any JournalWorld, ConformanceCheck) async throws -> Void

    /// The promise, a clause that goes on from "Every journal …" or "Owners …".
    public let description: String
    private let trial: Trial

    init(_ description: String, _ trial: @escaping Trial) {
        self.description = description
        self.trial = trial
    }

    /// Returns what the journal of a new world does otherwise, a sentence each with the place of the suite that found it;
    /// empty when it keeps the promise. A failure that a journal throws is such a sentence too. The world is removed at the
    /// end.
    public func violations(in world: any JournalWorld) async -> [String] {
        defer { world.remove() }
        let check = ConformanceCheck()
        do { try await trial(world, check) } catch let missing as MissingValue {
            check.add("\(missing)")
        } catch { check.add("it throws \(error)") }
        return check.violations
    }

    /// Tries every promise in a world of its own, one after the other, and returns what the journal does otherwise, each with
    /// the promise before it; empty for a journal that keeps them all.
    public static func violations(
        of makeWorld: () async throws -> any JournalWorld
    ) async -> [String] {
        var violations: [String] = []
        for promise in all {
            do {
                violations += await promise.violations(in: try await makeWorld()).map { "\(promise): \($0)" }
            } catch {
                violations.append("\(promise): there is no world: \(error)")
            }
        }
        return violations
    }

    /// The promises of every journal.
    public static let all = jobs + owners
    /// The further promises of a journal that keeps batches and services (``PipelineCore/BatchJournal``,
    /// ``PipelineCore/ServiceJournal``).
    package static let ofDatabases = batches + services

    /// The promises about jobs; each text goes on from "Every journal …".
    package static let jobs: [JournalConformance] = [
        Self("gives a new job back as it was created") { try await JobPromises.creates($0, $1) },
        Self("gives all kinds of change back as they were committed") { try await JobPromises.keepsChanges($0, $1) },
        Self("keeps the values that a push brought, of the last that brought any") {
            try await JobPromises.keepsPushedValues($0, $1)
        },
        Self("keeps a callback that came early with what it is judged by, and wakes nothing for it before") {
            try await JobPromises.keepsEarlyCallbacks($0, $1)
        },
        Self("keeps a push once, and knows which ones a step was woken for") {
            try await JobPromises.keepsPushes($0, $1)
        },
        Self("keeps who is told of what; what was sent is not changed any more") {
            try await JobPromises.keepsNotifications($0, $1)
        },
        Self("keeps which step wrote a file") { try await JobPromises.fileSteps($0, $1) },
        Self("keeps all changes of a commit or none") { try await JobPromises.isAtomic($0, $1) },
        Self("refuses a step made from a row that is not the last") { try await JobPromises.comparesVersions($0, $1) },
        Self("takes an event only as the next of its job, not none") {
            try await JobPromises.ordersEvents($0, $1, sequence: nil)
        },
        Self("takes an event only as the next of its job, not the last") {
            try await JobPromises.ordersEvents($0, $1, sequence: 1)
        },
        Self("takes an event only as the next of its job, not the one after the next") {
            try await JobPromises.ordersEvents($0, $1, sequence: 3)
        },
        Self("lets no owner say that it crashed") { try await JobPromises.refusesCrashed($0, $1) },
        Self("refuses a second job of a key, and names the first") { try await JobPromises.guardsKeys($0, $1) },
        Self("lists what a query selects, newest first") { try await JobPromises.lists($0, $1) },
        Self("forgets a job that has ended, and no other") { try await JobPromises.removes($0, $1) },
    ]

    /// The promises about who may write; each text goes on from "Owners …".
    package static let owners: [JournalConformance] = [
        Self("keep a job while they live") { try await OwnerPromises.excludes($0, $1) },
        Self("hand a job over with a higher epoch") { try await OwnerPromises.handsOver($0, $1) },
        Self("let a job go, and end it, in the transaction that says so") {
            try await OwnerPromises.letsGoInOneTransaction($0, $1)
        },
        Self("lose their jobs at once when they are killed") { try await OwnerPromises.freesDead($0, $1) },
        Self("know by the clock alone that a job may be another's after they were stopped") {
            try await OwnerPromises.doubts($0, $1)
        },
        Self("hold a job at once that comes after a long time without any") {
            try await OwnerPromises.holdsAfterIdleness($0, $1)
        },
        Self("are refused once they were stopped and another has taken over") {
            try await OwnerPromises.refusesStopped($0, $1)
        },
        Self("go on when they were stopped and nobody came") { try await OwnerPromises.goesOn($0, $1) },
        Self("have none of the jobs of a killed owner whose name they bear") {
            try await OwnerPromises.startsAnew($0, $1)
        },
        Self("are told of requests, and only a living one is") { try await OwnerPromises.tellsRequests($0, $1) },
        Self("keep a cancellation until it is done, whatever else is asked, and whoever has the job") {
            try await OwnerPromises.keepsCancellation($0, $1)
        },
        Self("find what was asked before they listened") { try await OwnerPromises.findsEarlierRequests($0, $1) },
        Self("hear no more once the journal is closed") { try await OwnerPromises.endsRequests($0, $1) },
    ]

    /// The further promises of a journal that remembers durations (``PipelineCore/DurationHistory``).
    package static let history: [JournalConformance] = [
        Self("gives samples back, of each stage the last ones, oldest first") {
            try await HistoryPromises.samples($0, $1)
        },
        Self("gives the ledger's rows back, and keeps them when their job is removed") {
            try await HistoryPromises.resumes($0, $1)
        },
    ]

    /// The rows of batches.
    package static let batches: [JournalConformance] = [
        Self("come back as they were written") { try await BatchPromises.roundTrip($0, $1) },
        Self("count each state with the commit that changes it") { try await BatchPromises.counts($0, $1) },
        Self("add costs up in decimal") { try await BatchPromises.costs($0, $1) },
        Self("hold a key once: twice in one reading is a duplicate, known from an earlier one is known") {
            try await BatchPromises.keys($0, $1)
        },
        Self("take the longest key and the longest path, of letters without a pattern") {
            try await BatchPromises.longestNames($0, $1)
        },
        Self("leave an item whose row has changed alone, or make it a new one of its key") {
            try await BatchPromises.changes($0, $1)
        },
        Self("forget a bad row when the sources are read again, and never begin it") {
            try await BatchPromises.badRows($0, $1)
        },
        Self("begin what failed again as rows name it that were not mended, when that is asked") {
            try await BatchPromises.retriesNamed($0, $1)
        },
        Self("make no item a new one of its key of which a submit may be at the service") {
            try await BatchPromises.openSubmits($0, $1)
        },
        Self("begin nothing as it was once read whose row was mended before it began, or is gone") {
            try await BatchPromises.mendedBeforeTheyBegin($0, $1)
        },
        Self("begin what failed again with the next attempt, and what was under way with the same") {
            try await BatchPromises.retries($0, $1)
        },
        Self("let a pending one end that nobody wants, whoever owns the batch, and begin it when it is named") {
            try await BatchPromises.cancelled($0, $1)
        },
        Self("leave aside what failed before a reading, until a row names it or it begins again") {
            try await BatchPromises.aside($0, $1)
        },
        Self("give the file of a row that has changed to one item, however its rows stood before") {
            try await BatchPromises.changedTargets($0, $1)
        },
        Self("have each file once, also one whose name an item learns late, and as a new item of the key") {
            try await BatchPromises.files($0, $1)
        },
        Self("take no write under a stale lease") { try await BatchPromises.stale($0, $1) },
        Self("group failures by stage and status, the largest first, each with its first item") {
            try await BatchPromises.groups($0, $1)
        },
        Self("take no status of a good answer for what failures have in common") {
            try await BatchPromises.reasons($0, $1)
        },
        Self("stand in lists as one job, and go with it") { try await BatchPromises.list($0, $1) },
    ]

    /// The rows of services.
    package static let services: [JournalConformance] = [
        Self("one of two processes gets the trial, and the next when its time is over or the service closed again") {
            try await ServicePromises.trial($0, $1)
        },
        Self("places are counted over processes, stay over suspensions, and are free in the commit that ends the step")
        { try await ServicePromises.places($0, $1) },
        Self("no item of a batch gets a place once those before failed alike, until the batch goes on") {
            try await ServicePromises.restraint($0, $1)
        },
        Self("no item of a batch gets a place beyond what it may spend") {
            try await ServicePromises.affordable($0, $1)
        },
    ]
}
