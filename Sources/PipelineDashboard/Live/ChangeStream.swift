import JSONPath
import PipelineCore
import PipelineKit
import Synchronization

/// Server-sent events (HTML Standard, section 9.2) of what changes in the journal. Their ids are the numbers of the
/// journal's own sequence, so that a stream that broke goes on where it was.
final class ChangeStreams: Sendable {
    private let journal: Workspace.Journal
    private let open = Mutex(0)

    static let limit = 16
    /// The time in which a change is seen. Nothing is asked while no stream is open.
    private static let interval = Duration.milliseconds(80)
    private static let heartbeat = Duration.seconds(15)

    init(journal: Workspace.Journal) { self.journal = journal }

    /// The stream after a change; nil when there are too many.
    ///
    /// - Parameter job: the only job whose changes are wanted; nil for all.
    func stream(after change: Int64, of job: JobID?) -> AsyncThrowingStream<[UInt8], any Error>? {
        let isAdmitted = open.withLock { count in
            guard count < Self.limit else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { return nil }
        let state = StreamState(change: change, end: { [self] in open.withLock { $0 -= 1 } })
        return AsyncThrowingStream(unfolding: { [journal] in await Self.next(state, job, journal) })
    }

    private static func next(_ state: StreamState, _ job: JobID?, _ journal: Workspace.Journal) async -> [UInt8]? {
        if state.isFirst { return Array("retry: 1000\n: connected\n\n".utf8) }
        let clock = ContinuousClock()
        let start = clock.now
        while !Task.isCancelled {
            let changes = (try? await journal.changes(after: state.change, limit: 500)) ?? []
            if let last = changes.last {
                state.change = last.number
                let wanted = changes.filter { job == nil || $0.job == job }
                if !wanted.isEmpty { return event("change", last.number, wanted.map { .string($0.job.text) }) }
            }
            if clock.now - start >= heartbeat { return event("beat", state.change, []) }
            guard (try? await Task.sleep(for: interval)) != nil else { return nil }
        }
        return nil
    }

    private static func event(_ name: String, _ change: Int64, _ jobs: [JSON]) -> [UInt8] {
        Array("event: \(name)\nid: \(change)\ndata: \(JSON.array(jobs).text)\n\n".utf8)
    }
}

/// The place that one stream has reached. Its end gives its place to another.
private final class StreamState: Sendable {
    private let value: Mutex<(change: Int64, isFirst: Bool)>
    private let end: @Sendable () -> Void

    init(change: Int64, end: @escaping @Sendable () -> Void) {
        value = Mutex((change, true))
        self.end = end
    }

    deinit { end() }

    var change: Int64 {
        get { value.withLock { $0.change } }
        set { value.withLock { $0.change = newValue } }
    }

    /// True the first time that it is asked.
    var isFirst: Bool {
        value.withLock { value in
            defer { value.isFirst = false }
            return value.isFirst
        }
    }
}
