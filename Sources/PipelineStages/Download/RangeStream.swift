import HTTPTypes
import PipelineCore
import PipelineHTTP
import Synchronization

/// One stream of a download in several: receives one piece, in as many requests as the service needs for it.
struct RangeStream: Sendable {
    /// How a stream ended.
    enum End: Sendable {
        /// The piece is whole; the last answer.
        case whole(HTTPExchangeResponse, RenderedRequest)
        /// What is held is of no use; why.
        case restart(String)
        case failed(StageFailure)
    }

    let run: DownloadRun
    let part: PartFile
    let progress: RangeProgress
    let marks: TransferMarks
    /// The request of the piece, but for where it begins.
    let session: DownloadSession
    /// The bytes before the first piece.
    let prefix: Int64

    func receive(_ piece: RangeMap.Piece, at index: Int) async -> End {
        while true {
            let position = progress.position(of: index)
            var session = session
            session.held = position
            session.limit = piece.end
            let rendered: RenderedRequest
            do throws(StageFailure) {
                var made = try await run.requests.render(run.stage.definition, in: run.context)
                for field in session.fields { made.description.headers[field.name] = field.value }
                rendered = made
            } catch {
                return .failed(error)
            }
            let verdict = Mutex(DownloadSession.Verdict?.none)
            let sink = sink(session, index: index) { seen in verdict.withLock { $0 = seen } }
            switch await run.requests.send(rendered, in: run.context, adjust: { $0.receive = sink }) {
            case .failure(let failure): return .failed(run.end(failure, rendered, at: part.path))
            case .success(let response):
                switch verdict.withLock({ $0 }) {
                case .rest(let end, _):
                    let reached = progress.position(of: index)
                    // More than was promised has been written over the next piece.
                    guard reached == end else { return .restart("the service sent another range than it said") }
                    guard reached > position else {
                        return .failed(run.definite("the service sends ranges without a byte in them"))
                    }
                    if reached >= piece.end { return .whole(response, rendered) }
                case .restart(let reason): return .restart(reason)
                case .whole: return .restart("the service sent the whole file where a range was asked for")
                case .nothingMore: return .restart("the service has fewer bytes than it said")
                case .answer, nil: return .failed(await run.refusal(response, rendered))
                }
            }
        }
    }

    private func sink(
        _ session: DownloadSession, index: Int, judged: @escaping @Sendable (DownloadSession.Verdict) -> Void
    ) -> ResponseSink {
        let (progress, marks, prefix) = (progress, marks, prefix)
        let (descriptor, report, total) = (part.descriptor, run.context, session.total)
        return .file(
            FileSink(
                onBytes: { bytes in
                    let (covered, isWorthTelling) = progress.take(bytes, of: index)
                    marks.move(to: prefix + covered)
                    if isWorthTelling {
                        report.report(.transfer(sent: 0, received: prefix + covered, total: total))
                    }
                },
                decide: { head in
                    var verdict = session.verdict(on: head)
                    if case .rest(let end, _) = verdict {
                        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
                        if end > session.limit ?? end || length.map({ $0 != end - session.held }) ?? false {
                            verdict = .restart("the service sent another range than was asked for")
                        }
                    }
                    judged(verdict)
                    return switch verdict {
                    case .rest: .writeToDescriptor(descriptor, offset: session.held)
                    case .answer: .memory
                    case .whole, .nothingMore, .restart: .stop
                    }
                }))
    }
}
