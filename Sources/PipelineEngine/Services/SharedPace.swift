import PipelineCore
import Synchronization

/// Keeps this process's requests to one service to its part of the service's rate, one after the other by their urgency
/// and as they came, where several processes share a journal.
///
/// The part is claimed for some seconds, so that no request but one of many waits for the journal. By the time that passes,
/// whatever the clock is set to.
final class SharedPace: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [(ticket: Int, urgency: Urgency, turn: CheckedContinuation<Bool, Never>)] = []
        var lastTicket = 0
        /// False once the journal has said that no other process asks services.
        var isShared = true
        var part = 0.0
        var renewal = Duration.zero
        var end = Duration.zero
        /// The time at which the next request may begin.
        var next = Duration.zero
    }

    private let clock: any WallClock
    private let claim: @Sendable () async throws(JournalFailure) -> RateShare?
    private let state = Mutex(State())

    /// The time after which one that got no part asks again.
    private static let patience = Duration.milliseconds(300)

    init(
        _ clock: any WallClock, claim: @escaping @Sendable () async throws(JournalFailure) -> RateShare?
    ) {
        self.clock = clock
        self.claim = claim
    }

    /// Returns when a request may begin, or the task is cancelled.
    func turn(requestsPerSecond rate: Double, urgency: Urgency) async {
        guard state.withLock({ $0.isShared }), rate > 0, await enter(urgency) else { return }
        defer { leave() }
        while !Task.isCancelled {
            if state.withLock({ clock.elapsed >= $0.renewal }) { await renew() }
            let wait: Duration? = state.withLock { state in
                let now = clock.elapsed
                guard state.isShared else { return nil }
                guard state.part > 0, now < state.end else {
                    state.renewal = now
                    return Self.patience
                }
                guard state.next <= now else { return min(state.next, max(state.renewal, now)) - now }
                state.next = now + .seconds(1 / (rate * state.part))
                return nil
            }
            guard let wait else { return }
            // Times of day are whole milliseconds.
            try? await clock.sleep(until: clock.now + max(wait, .milliseconds(1)))
        }
    }

    private func renew() async {
        let asked = clock.elapsed
        let share: RateShare?
        // What can't be claimed now is claimed again: until then the last part holds for as long as it was promised.
        do { share = try await claim() } catch { return }
        state.withLock { state in
            guard let share else { return state.isShared = false }
            state.part = share.part
            state.end = asked + share.lasting
            state.renewal = asked + share.lasting / 3
        }
    }

    // MARK: One at a time

    /// False when the task was cancelled before its turn.
    private func enter(_ urgency: Urgency) async -> Bool {
        let ticket: Int? = state.withLock { state in
            if !state.isBusy {
                state.isBusy = true
                return nil
            }
            state.lastTicket += 1
            return state.lastTicket
        }
        guard let ticket else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEntered: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if !state.isBusy {
                        state.isBusy = true
                        return true
                    }
                    let place = state.waiting.firstIndex { $0.urgency < urgency }
                    state.waiting.insert((ticket, urgency, continuation), at: place ?? state.waiting.endIndex)
                    return nil
                }
                if let isEntered { continuation.resume(returning: isEntered) }
            }
        } onCancel: {
            let found = state.withLock { state in
                state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0).turn }
            }
            found?.resume(returning: false)
        }
    }

    private func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().turn
        }
        next?.resume(returning: true)
    }
}
