import PipelineCore
import PipelineKit

/// The wait of a command for a job that another process drives, and which it would drive itself else. A signal ends the
/// wait and nothing else.
struct SignalledWait {
    /// The stop of a wait, for loops and for streams.
    struct Stop: Sendable {
        let signals: StopSignals
        /// Ends when a signal comes.
        let stream: AsyncStream<Void>

        var isAsked: Bool { signals.count > 0 }
    }

    let console: Console

    /// Returns what `wait` gives. Nil when a signal came first and the job has not ended: then it is said how the job goes
    /// on.
    ///
    /// - Parameter name: by which people call the job.
    func run(for name: String, _ wait: (Stop) async throws -> OwnedJob) async throws -> OwnedJob? {
        let (stream, stop) = AsyncStream<Void>.makeStream()
        let signals = StopSignals { stop.finish() }
        defer { signals.end() }
        let latest = try await wait(Stop(signals: signals, stream: stream))
        guard signals.count > 0, latest.snapshot.ended == nil else { return latest }
        console.note(
            latest.owner == nil
                ? "suspended; go on with: pipeline resume \(name)"
                : "\(name) goes on in another process; 'pipeline watch \(name)' shows it, 'pipeline pause \(name)' stops it"
        )
        return nil
    }
}
