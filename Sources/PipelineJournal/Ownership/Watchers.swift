import PipelineCore
import Synchronization

/// The owners of other processes that want to be told what happens here, each for a while: one that has gone is
/// forgotten by itself.
final class Watchers: Sendable {
    private struct Wish: Hashable {
        let owner: OwnerID
        /// Nil for every job.
        let job: JobID?
    }

    /// Until when each wants to be told, by the lease clock.
    private let wishes = Mutex<[Wish: Int64]>([:])
    /// For how long a wish is good, in milliseconds; who watches says it again in good time.
    static let patience: Int64 = 5000

    /// Whether the owner did not want it by now.
    @discardableResult func add(_ owner: OwnerID, _ job: JobID?, at now: Int64) -> Bool {
        let old = wishes.withLock { $0.updateValue(now + Self.patience, forKey: Wish(owner: owner, job: job)) }
        return old.map { $0 <= now } ?? true
    }

    /// Whoever is to be told of the job now. What nobody watches costs a look at an empty list.
    func owners(for job: JobID, at now: @autoclosure () -> Int64) -> Set<OwnerID> {
        wishes.withLock { wishes in
            if wishes.isEmpty { return [] }
            let now = now()
            wishes = wishes.filter { $0.value > now }
            return Set(wishes.keys.filter { $0.job == nil || $0.job == job }.map(\.owner))
        }
    }

    /// The owner reads nothing any more.
    func remove(_ owner: OwnerID) { wishes.withLock { $0 = $0.filter { $0.key.owner != owner } } }
}
