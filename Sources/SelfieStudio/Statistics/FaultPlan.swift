import Synchronization

/// Decides which requests go wrong on purpose. Deterministic: it counts, and throws no dice.
final class FaultPlan: Sendable {
    private let failPercent: Int
    private let cutAfter: Int?
    private let cutsEveryTime: Bool
    private let state: Mutex<State>

    private struct State {
        var requests = 0
        var answersToLose: Int
        var alreadyCut: Set<String> = []
    }

    init(_ settings: StudioSettings) {
        failPercent = min(max(settings.failPercent, 0), 100)
        cutAfter = settings.cutAfter
        cutsEveryTime = settings.cutsEveryTime
        state = Mutex(State(answersToLose: settings.lostAnswers))
    }

    /// Returns whether this request is answered 503: of each hundred exactly the percentage, spread evenly.
    func failsRequest() -> Bool {
        state.withLock { state in
            let before = state.requests * failPercent / 100
            state.requests += 1
            return state.requests * failPercent / 100 > before
        }
    }

    /// After how many bytes of its body this transfer is cut, or nil if it is not.
    /// - Parameter transfer: what is transferred, the same for each try.
    func cut(_ transfer: String) -> Int? {
        guard let cutAfter else { return nil }
        return cutsEveryTime || !state.withLock({ $0.alreadyCut.contains(transfer) }) ? cutAfter : nil
    }

    /// The transfer was cut.
    func wasCut(_ transfer: String) {
        state.withLock { _ = $0.alreadyCut.insert(transfer) }
    }

    /// Returns whether the answer to this submission, whose work is done, is lost.
    func losesAnswer() -> Bool {
        state.withLock { state in
            guard state.answersToLose > 0 else { return false }
            state.answersToLose -= 1
            return true
        }
    }
}
