import PipelineCore
import Synchronization

/// The measurements of calls of one transaction, which are written once for all of them.
final class GatheredMeasurements: Sendable {
    struct Content {
        var measured = Measurements()
        /// True if a job ends by the transaction, or is let go: nothing is held back for long then.
        var endsJob = false
        /// True if the process is about to end: nothing is held back then.
        var isLast = false

        mutating func add(_ other: Content) {
            measured.add(other.measured)
            endsJob = endsJob || other.endsJob
            isLast = isLast || other.isLast
        }
    }

    private let content = Mutex(Content())

    var all: Content { content.withLock { $0 } }

    func add(_ measured: Measurements) { content.withLock { $0.measured.add(measured) } }

    func noteEnd() { content.withLock { $0.endsJob = true } }

    func noteLast() { content.withLock { $0.isLast = true } }
}
