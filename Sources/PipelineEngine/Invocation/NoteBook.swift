import JSONPath
import PipelineCore
import Synchronization

/// The notes that calls under way make of their steps between two changes of these: quick, from any thread. What no
/// change has taken along is lost in a crash, and can be found out again.
final class NoteBook: Sendable {
    private struct State {
        var notes: [StepKey: StepNotes] = [:]
        /// The time when a step's words were news the last time.
        var heard: [StepKey: Timestamp] = [:]
        /// The response that came last, where something is judged over it.
        var responses: [StepKey: JSON] = [:]
        /// The steps whose services have done in this call what they were asked for.
        var served: Set<StepKey> = []
        var measured = Measurements()
    }

    private let state = Mutex(State())
    /// The paths to which the steps have written.
    let claims = OutputClaims()

    /// So seldom the same call is news.
    private static let interval = Duration.seconds(5)

    /// Counts body bytes that went over the network.
    func count(_ moved: BytesMoved, of step: StepKey) {
        state.withLock {
            $0.notes[step, default: StepNotes()].moved = $0.notes[step, default: StepNotes()].moved + moved
        }
    }

    func keep(_ response: JSON, of step: StepKey) { state.withLock { $0.responses[step] = response } }

    /// The response that came last; nil when none was kept.
    func response(of step: StepKey) -> JSON? { state.withLock { $0.responses[step] } }

    /// Notes that the service has done what the step's call asked for.
    func noteServed(_ step: StepKey) { state.withLock { _ = $0.served.insert(step) } }

    /// Returns whether the service has done what the call asked for that has ended.
    func takeServed(_ step: StepKey) -> Bool { state.withLock { $0.served.remove(step) != nil } }

    /// Notes what was measured; it goes with the job's next commit, whichever step's it is.
    func measure(_ measured: Measurements) { state.withLock { $0.measured.add(measured) } }

    /// Returns what was measured since the last call.
    func takeMeasurements() -> Measurements {
        state.withLock { state in
            defer { state.measured = Measurements() }
            return state.measured
        }
    }

    /// Notes until when the service keeps what the step has there.
    func expire(at time: Timestamp?, _ step: StepKey) {
        state.withLock { $0.notes[step, default: StepNotes()].expires = .some(time) }
    }

    /// Notes when the service says that what the step waited for ended.
    func end(at time: Timestamp, _ step: StepKey) {
        state.withLock { $0.notes[step, default: StepNotes()].ended = time }
    }

    /// Notes what was said of a step's end, in place of what was said before; true when it is news.
    func hear(_ progress: StageProgress, _ words: Estimate.Words?, of step: StepKey, at time: Timestamp) -> Bool {
        state.withLock { state in
            if case .remote(let share, let secondsLeft, _) = progress, (secondsLeft ?? 0) > 0 || (share ?? 0) > 0.02,
                state.notes[step]?.report == nil
            {
                state.notes[step, default: StepNotes()].report = StepNotes.FirstReport(
                    time: time, secondsLeft: secondsLeft, share: share)
            }
            guard let words else { return false }
            state.notes[step, default: StepNotes()].words = JobEstimate.Words(words, at: time)
            // A clock that was set back between two calls holds nothing up.
            if let heard = state.heard[step], (.zero..<Self.interval).contains(time - heard) { return false }
            state.heard[step] = time
            return true
        }
    }

    /// Returns what was noted since the last call.
    func take(_ step: StepKey) -> StepNotes { state.withLock { $0.notes.removeValue(forKey: step) } ?? StepNotes() }

    /// Returns only what was said of its end since the last call.
    func takeWords(_ step: StepKey) -> StepNotes {
        state.withLock { state in
            var notes = StepNotes()
            notes.words = state.notes[step]?.words
            notes.report = state.notes[step]?.report
            return notes
        }
    }

    /// The step has ended: nothing more is said of it.
    func forget(_ step: StepKey) {
        state.withLock { state in
            state.notes[step] = nil
            state.heard[step] = nil
            state.responses[step] = nil
        }
    }
}
