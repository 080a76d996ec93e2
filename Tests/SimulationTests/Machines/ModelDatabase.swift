import PipelineCore
import PipelineTestKit
import Synchronization

/// A database that several machines share, as a model: its transactions are one after the other, owners live by its own
/// clock, connections break before a transaction and between a commit and its answer, and for a time it is away.
final class ModelDatabase: Sendable {
    private struct State {
        var leases: [OwnerID: Timestamp] = [:]
        /// The tokens of the groups that were committed.
        var tokens: Set<Int> = []
        var lastToken = 0
        var isAway = false
        var lostChance = 0.0
        var reconciled = 0
    }

    static let leaseLength = Duration.seconds(30)

    let base: any Journal
    let simulation: Simulation
    /// Whether a machine sends a group again though it was committed, as one that knows no tokens would.
    let isBlind: Bool
    private let memory: MemoryJournal
    /// How far its clock is from that of the world.
    private let skew: Duration
    private let state = Mutex(State())

    init(_ base: any Journal, _ memory: MemoryJournal, _ simulation: Simulation, isBlind: Bool) {
        self.base = base
        self.memory = memory
        self.simulation = simulation
        self.isBlind = isBlind
        skew = .seconds(simulation.randomness.number(in: -3600...3600))
    }

    private var now: Timestamp { simulation.now + skew }

    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }

    var lostChance: Double {
        get { state.withLock { $0.lostChance } }
        set { state.withLock { $0.lostChance = newValue } }
    }

    /// How often the token said that a group whose answer was lost had been committed.
    var reconciled: Int { state.withLock { $0.reconciled } }

    var losesConnection: Bool {
        let (isAway, chance) = state.withLock { ($0.isAway, $0.lostChance) }
        return isAway || chance > 0 && simulation.randomness.chance(chance)
    }

    func newToken() -> Int {
        state.withLock { state in
            state.lastToken += 1
            return state.lastToken
        }
    }

    /// What each transaction begins with: an owner that has not renewed in time owns nothing that others may not take.
    func expireLeases() {
        let dead = state.withLock { state in state.leases.filter { $0.value <= now }.map(\.key) }
        for owner in dead { memory.expire(owner) }
    }

    /// What each transaction of a machine ends with.
    func sign(_ owner: OwnerID, _ token: Int) {
        memory.renew(owner)
        state.withLock { state in
            state.tokens.insert(token)
            state.leases[owner] = now + Self.leaseLength
        }
    }

    func isCommitted(_ token: Int) -> Bool {
        state.withLock { state in
            let isThere = state.tokens.contains(token)
            if isThere { state.reconciled += 1 }
            return isThere
        }
    }
}
