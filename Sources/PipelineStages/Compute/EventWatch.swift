import HTTPTypes
import PipelineCore
import PipelineHTTP
import Synchronization

/// The events that the transport's thread has read from a stream of events and its stage has not yet looked at.
///
/// Of many events that tell the progress the last one counts, so that a fast stream takes no more memory than a slow one.
final class EventWatch: Sendable {
    private struct State: Sendable {
        var reader: ServerSentEvents
        var isStream = false
        var count = 0
        var progress: ServerSentEvent?
        var end: ServerSentEvent?
    }

    private let events: PollEvents
    private let ticker: ProgressTicker
    private let state: Mutex<State>

    init(_ events: PollEvents, from position: StreamPosition, maximumBytes: Int, ticker: ProgressTicker) {
        self.events = events
        self.ticker = ticker
        let names = Set(events.meanings.keys)
        state = Mutex(
            State(
                reader: ServerSentEvents(lastID: position.lastID, maximumBytes: maximumBytes) { names.contains($0) }))
    }

    /// The sink of an exchange whose body is the stream.
    var sink: ResponseSink {
        .stream(
            StreamSink { head in
                let isStream = head.status.code == 200 && Self.isEvents(head.headerFields[.contentType] ?? "")
                self.state.withLock { $0.isStream = isStream }
                return isStream
            } onBytes: {
                self.take($0)
            })
    }

    /// True once the head of a stream has come.
    var isStream: Bool { state.withLock { $0.isStream } }
    /// The number of events that have come that mean something.
    var count: Int { state.withLock { $0.count } }
    /// The name of the last event if the poll passes it over.
    var passedOver: String? { state.withLock { $0.reader.passedOver } }
    /// The event that ended the job; nil while none has.
    var end: ServerSentEvent? { state.withLock { $0.end } }

    var position: StreamPosition {
        state.withLock {
            StreamPosition(
                lastID: $0.reader.lastID, names: events.names,
                retry: $0.reader.retry.map { Int(clamping: $0.wholeMilliseconds) })
        }
    }

    /// The last event of progress since the last call.
    func takeProgress() -> ServerSentEvent? {
        state.withLock { state in
            defer { state.progress = nil }
            return state.progress
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> StreamDecision {
        let (decision, hasNew) = state.withLock { state -> (StreamDecision, Bool) in
            let (count, id) = (state.count, state.reader.lastID)
            var (progress, end) = (state.progress, state.end)
            let goesOn = state.reader.read(bytes) { event in
                state.count += 1
                if events.meanings[event.name] == .progress {
                    progress = event
                } else {
                    end = event
                }
                return end == nil
            }
            (state.progress, state.end) = (progress, end)
            let decision: StreamDecision = goesOn ? .more : end == nil ? .tooLarge : .stop
            // An event that is passed over moves the position too.
            return (decision, state.count != count || state.reader.lastID != id)
        }
        if hasNew { ticker.signal() }
        return decision
    }

    /// https://html.spec.whatwg.org/multipage/iana.html#text/event-stream
    private static func isEvents(_ type: String) -> Bool {
        type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "text/event-stream"
    }
}
