import HTTPTypes
import NetworkTasks
import PipelineCore
import PipelineHTTP
import Synchronization

/// The events that the transport's thread has seen of one request of an upload and its stage has not yet looked at.
final class UploadWatch: Sendable {
    private struct Seen: Sendable {
        var informed: [(status: Int, headers: HTTPFields)] = []
        var isSent = false
    }

    let marks: ProgressTicker
    private let seen = Mutex(Seen())
    private let report: @Sendable (Int64) -> Void

    /// - Parameter report: told how many bytes of the body were handed to the network, whenever that grew.
    init(marks: ProgressTicker, report: @escaping @Sendable (Int64) -> Void) {
        self.marks = marks
        self.report = report
    }

    /// Lets an exchange report here.
    func attach(to options: inout ExchangeOptions) {
        options.onInformational = { status, headers in
            self.seen.withLock { $0.informed.append((status, headers)) }
            self.marks.signal()
        }
        options.onProgress = { progress in
            guard progress.sent != self.marks.position else { return }
            self.marks.move(to: progress.sent)
            self.report(progress.sent)
        }
        options.onSent = {
            self.seen.withLock { $0.isSent = true }
            self.marks.signal()
        }
    }

    /// True when the last byte was handed to the network.
    var isSent: Bool { seen.withLock { $0.isSent } }

    /// The 1xx answers since the last call.
    func takeInformed() -> [(status: Int, headers: HTTPFields)] {
        seen.withLock { seen in
            defer { seen.informed = [] }
            return seen.informed
        }
    }
}
