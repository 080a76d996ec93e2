import HTTPTypes
import PipelineCore
import PipelineHTTP
import Synchronization

/// One stream of a download in several: receives one piece, in as many requests as the service needs for it.
struct RangeStream: Sendable {
    /// The way in which a stream ended.
    enum End: Sendable {
        /// The piece is whole; the last answer.
        case whole(HTTPExchangeResponse, RenderedRequest)
        /// The bytes that are held are of no use; with the reason.
        case restart(String)
        case failed(StageFailure)
    }

    let order: DownloadOrder
    let part: PartFile
    let notes: PartNotes
    let progress: RangeProgress
    let marks: ProgressTicker
    let gauge: ThroughputMonitor
    /// The request of the piece, but for where it begins.
    let session: DownloadSession

    /// Receives the piece that begins there, up to where it then ends: other streams may take over what lies behind.
    func receive(_ start: Int64) async -> End {
        while true {
            guard let (position, end) = progress.bounds(of: start) else { return .restart("another stream has it") }
            var session = session
            session.held = position
            session.limit = end
            let rendered: RenderedRequest
            do throws(StageFailure) {
                var made = try await order.requests.render(order.stage.definition, in: order.context)
                for field in session.fields { made.description.headers[field.name] = field.value }
                rendered = made
            } catch {
                return .failed(error)
            }
            let seen = Mutex(Seen())
            let sink = sink(session, start) { change in seen.withLock { change(&$0) } }
            switch await order.requests.send(rendered, in: order.context, adjust: { $0.receive = sink }) {
            case .failure(let failure): return .failed(order.end(failure, rendered, at: part.path))
            case .success(let response):
                let seen = seen.withLock { $0 }
                switch seen.verdict {
                case .rest(let promised, _):
                    guard let (reached, end) = progress.bounds(of: start), reached < end else {
                        return .whole(response, rendered)
                    }
                    guard reached == promised || reached == seen.end else {
                        return .restart("the service sent another range than it said")
                    }
                    guard reached > position else {
                        return .failed(order.definite("the service sends ranges without a byte in them"))
                    }
                case .restart(let reason): return .restart(reason)
                case .whole: return .restart("the service sent the whole file where a range was asked for")
                case .nothingMore: return .restart("the service has fewer bytes than it said")
                case .answer, nil: return .failed(await order.refusal(response, rendered))
                case .unrelated: return .failed(order.unrelated(response, rendered))
                }
            }
        }
    }

    /// The events of one exchange.
    private struct Seen: Sendable {
        var verdict: DownloadSession.Verdict?
        /// The place where the piece ended when something was written last: the end may have moved on meanwhile.
        var end: Int64?
    }

    private func sink(
        _ session: DownloadSession, _ start: Int64,
        note: @escaping @Sendable (@Sendable (inout Seen) -> Void) -> Void
    ) -> ResponseSink {
        let (progress, marks, gauge, notes) = (progress, marks, gauge, notes)
        let (descriptor, report, total) = (part.descriptor, order.context, session.total)
        return .file(
            FileSink(
                onBytes: { bytes in
                    let taken = progress.take(bytes, of: start)
                    if let note = taken.note { notes.add(note) }
                    marks.move(to: taken.covered)
                    gauge.note(taken.covered)
                    if taken.isWorthTelling {
                        report.report(.transfer(sent: 0, received: taken.covered, total: total))
                    }
                },
                end: {
                    let end = progress.bounds(of: start)?.end ?? 0
                    note { $0.end = end }
                    return end
                },
                decide: { head in
                    var verdict = session.verdict(on: head)
                    if case .rest(let end, _) = verdict, end > session.limit ?? end {
                        verdict = .restart("the service sent another range than was asked for")
                    }
                    note { [verdict] in $0.verdict = verdict }
                    return switch verdict {
                    case .rest: .writeToDescriptor(descriptor, offset: session.held)
                    case .answer: .memory
                    case .whole, .nothingMore, .restart, .unrelated: .stop
                    }
                }))
    }
}
