import NetworkTasks
import PipelineCore
import PipelineHTTP
import Synchronization

/// The parts of an upload that are on their way at a time, as many as are worth it.
struct PartUploader {
    typealias Sent = (
        number: Int, rendered: RenderedRequest, result: Result<HTTPExchangeResponse, ExchangeFailure>
    )

    enum Event: Sendable {
        /// Another number of streams is worth it.
        case changed
        case ended(Sent)
    }

    /// The first failure: nothing more is begun then.
    var failure: StageFailure?
    private let parts: PartsRequests
    private let table: PartTable
    private let state: PartsCheckpoint
    private let requests: StageRequests
    private let context: StageContext<UploadCheckpoint>
    private let pace: ThroughputMonitor
    private let gauge: PartThroughput
    private var missing: ArraySlice<Int>
    /// The bytes that those on their way hold, by part, numbered from 1: a stream that was only tried goes on to the
    /// end of its part, and takes no place of those that were there before it.
    private var places: [Int: Int] = [:]

    init(
        _ parts: PartsRequests, _ table: PartTable, _ state: PartsCheckpoint, most: Int, roundTrip: Duration,
        requests: StageRequests, context: StageContext<UploadCheckpoint>
    ) {
        self.parts = parts
        self.table = table
        self.state = state
        self.requests = requests
        self.context = context
        missing = (1...table.count).filter { state.receipts[$0] == nil }[...]
        pace = ThroughputMonitor(
            ConcurrencyController(
                .sending(part: state.partSize), most: most, of: table.total, width: state.streams, now: context.now)
        ) { context.now }
        pace.connected(over: roundTrip)
        gauge = PartThroughput(table, present: Set(state.receipts.keys), pace, context)
    }

    /// The number of streams that were worth it so far.
    var proven: Int { pace.proven }

    /// Lets the next change of the pace be an event.
    func watchPace(_ group: inout TaskGroup<Event>) {
        group.addTask { [pace] in
            await pace.change()
            return .changed
        }
    }

    /// Begins what may begin, and waits for something to happen; nil once nothing is on its way.
    mutating func next(_ group: inout TaskGroup<Event>) async -> Event? {
        while failure == nil, let place = freePlace, let number = missing.popFirst() {
            await begin(number, at: place, &group)
        }
        guard !places.isEmpty, let event = await group.next() else { return nil }
        switch event {
        case .changed: if !Task.isCancelled { watchPace(&group) }
        case .ended(let sent):
            places[sent.number] = nil
            if case .success(let response) = sent.result { pace.sentPart(response.timings) }
        }
        return event
    }

    /// The place where another part may begin; nil when there are as many as are worth it.
    private var freePlace: Int? { (1...pace.width).first { !places.values.contains($0) } }

    private mutating func begin(_ number: Int, at place: Int, _ group: inout TaskGroup<Event>) async {
        do throws(StageFailure) {
            let rendered = try await parts.part(table[number], state)
            let endsUpload = parts.endsWithPart && missing.isEmpty
            group.addTask { [requests, context, gauge] in
                let result = await requests.send(rendered, in: context) { options in
                    gauge.attach(number, to: &options)
                    if endsUpload { options.onSent = { context.pass(.uploadSent) } }
                }
                context.count(BytesMoved(sent: result.bytesSent))
                return .ended((number, rendered, result))
            }
            places[number] = place
        } catch {
            failure = error
        }
    }
}

/// The progress of all parts of an upload.
private final class PartThroughput: Sendable {
    private struct Sent: Sendable {
        var ofParts: [Int: Int64] = [:]
        var all: Int64 = 0
    }

    private let sent: Mutex<Sent>
    private let total: Int64
    private let pace: ThroughputMonitor
    private let context: StageContext<UploadCheckpoint>

    init(_ table: PartTable, present: Set<Int>, _ pace: ThroughputMonitor, _ context: StageContext<UploadCheckpoint>) {
        let all = present.reduce(0) { $0 + table.length(of: $1) }
        sent = Mutex(Sent(all: all))
        total = table.total
        self.pace = pace
        self.context = context
        pace.begin(at: all)
    }

    /// Lets the exchange of a part report here.
    func attach(_ number: Int, to options: inout ExchangeOptions) {
        options.onConnected = { [pace] in pace.connected(over: $0) }
        options.onProgress = { progress in
            let all = self.sent.withLock { sent in
                sent.all += progress.sent - (sent.ofParts.updateValue(progress.sent, forKey: number) ?? 0)
                return sent.all
            }
            self.pace.note(all)
            self.context.report(.transfer(sent: min(all, self.total), received: 0, total: self.total))
        }
    }
}
