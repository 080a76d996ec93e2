import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension DownloadRun {
    /// Asks for the file, or for what is missing of it, in one request.
    mutating func exchange() async throws(StageFailure) -> DownloadStep {
        var session = session()
        if probes, session.held == 0 { session.limit = Self.probeLength }
        var rendered = try await order.requests.render(order.stage.definition, in: context)
        for field in session.fields { rendered.description.headers[field.name] = field.value }
        let (context, requests, order) = (context, order.requests, order)
        let receiver = DownloadReceiver(
            session, marks: ProgressTicker(from: session.held, part: Self.partSize) { context.now }, place: order.place,
            url: rendered.description.url, comparesExisting: comparesExisting,
            refusesByHead: order.stage.definition.fail.isEmpty, wanted: order.wanted, checkpoint: checkpoint,
            part: part, digests: digests,
            open: { (path) throws(PartFile.OpenFailure) in try context.openNewPart(of: path) },
            owner: order.owner(of:)
        ) { context.now }
        let sink = receiver.sink { received, total in
            context.report(.transfer(sent: 0, received: received, total: total))
        }
        var passage = Passage(held: checkpoint.held)
        let result = try await receiver.marks.during { [rendered] in
            await requests.send(rendered, in: context) { $0.receive = sink }
        } onWakeUp: { () async throws(StageFailure) in
            try await keep(receiver.snapshot, &passage)
        }
        let snapshot = receiver.snapshot
        part = snapshot.part ?? part
        switch result {
        case .failure(let failure):
            try await keep(snapshot, &passage)
            try await order.warnOfRepetition(after: snapshot)
            throw order.end(failure, rendered, of: checkpoint, at: snapshot.path)
        case .success(let response): return try await step(after: response, snapshot, rendered, &passage)
        }
    }

    private mutating func step(
        after response: HTTPExchangeResponse, _ snapshot: DownloadReceiver.Snapshot, _ rendered: RenderedRequest,
        _ passage: inout Passage
    ) async throws(StageFailure) -> DownloadStep {
        switch snapshot.outcome {
        case .none: throw order.definite("the answer had no head")
        case .restart(let reason): return .restart(reason)
        case .answer: throw await order.refusal(response, rendered)
        case .unrelated: throw order.unrelated(response, rendered)
        case .busy(let path): throw order.busy(path)
        case .failed(let failure): throw order.local(failure)
        case .lackOfRoom(let lack, let path): throw order.noRoom(lack, path)
        case .otherSize(let total):
            throw try await reject(order.complaint(aboutSize: total), order.requests.answer(of: response), of: rendered)
        case .foreignCoding(let coding):
            throw order.definite(
                "the service sent the file coded as '\(coding)', although it was asked for as it is",
                hint: "\"headers\": { \"Accept-Encoding\": \"gzip\" } may bring it in a coding that is undone here")
        case .exists(let path):
            guard order.hasHeader(in: snapshot.stated) else { return .taken }
            return try await order.identical(path, by: order.wanted.stated + snapshot.stated, total: snapshot.total)
                .map { .identical($0) } ?? .taken
        case .received, .nothingMore:
            guard let part = snapshot.part, let path = snapshot.path else {
                throw order.definite("the answer had no file")
            }
            if let coded = snapshot.coded, snapshot.position >= coded.most {
                startAgain()
                try await commit(lasts: false)
                throw order.definite(
                    "more than \(SizeText.describe(coded.most)) would come out of the \(snapshot.coding ?? "") coding of "
                        + "what the service sent",
                    hint: "it was asked for as it is; nothing of it was kept")
            }
            let trailing = DeclaredDigest.stated(in: response.trailers, isWhole: response.status != 206)
            try await keep(snapshot, &passage, isEnd: true)
            checkpoint.stated += trailing.filter { !checkpoint.stated.contains($0) }
            roundTrip = max(roundTrip, response.timings.roundTrip)
            if let total = snapshot.total, snapshot.position < total {
                // A server may send less than the range that was asked for.
                digests = snapshot.digests
                return .more
            }
            if snapshot.total == nil, response.status == 206 {
                // Nor need it say how much there is: it may have more until it says that it has not.
                digests = snapshot.digests
                return .more
            }
            let body = try order.smallBody(part, snapshot.position)
            let answer = order.requests.answer(of: response).with(body: body)
            return .whole(
                DownloadArrival(
                    part: part, path: path, bytes: snapshot.position, digests: snapshot.digests,
                    coded: snapshot.coded?.digests, answer: answer, rendered: rendered,
                    retryAfter: response.retryAfter(now: context.now), isEndStated: response.isEndStated))
        }
    }

    /// True if a file that has the name already may spare the download: not where the answer itself is of interest.
    private var comparesExisting: Bool {
        !order.replaces && !isTaken && order.stage.unpack == nil && order.stage.definition.capture.isEmpty
            && order.stage.definition.fail.isEmpty
    }

    /// Makes what has arrived durable, counts it, and passes the marks behind it.
    ///
    /// - Parameter isEnd: true at the end of an answer. What is committed next makes its bytes durable too: the verdict on
    ///   the whole file, or what the answer after it brought.
    private mutating func keep(
        _ snapshot: DownloadReceiver.Snapshot, _ passage: inout Passage, isEnd: Bool = false
    ) async throws(StageFailure) {
        guard let part = snapshot.part, case .received = snapshot.outcome else { return }
        if snapshot.start < passage.held {
            try await warnOfLoss(
                because: "the service sent the whole, not the rest: it is another file, or has no ranges")
            passage.held = 0
        }
        self.part = part
        if !isEnd { try order.reading { () throws(FileFailure) in try part.syncData() } }
        checkpoint.target = snapshot.path
        checkpoint.held = snapshot.position
        checkpoint.heldDigest = snapshot.digests.proof
        checkpoint.validator = snapshot.validator
        checkpoint.coding = snapshot.coding
        checkpoint.total = snapshot.total
        checkpoint.stated = snapshot.stated
        context.count(BytesMoved(received: snapshot.position - max(snapshot.start, passage.counted)))
        passage.counted = snapshot.position
        if !isEnd { try await commit(lasts: session().asksForRest) }
        passage.parts = max(passage.parts, snapshot.start)
        while passage.parts + Self.partSize <= snapshot.position {
            passage.parts += Self.partSize
            context.pass(.downloadPart)
        }
        if isEnd, passage.parts < snapshot.position { context.pass(.downloadPart) }
    }

    /// The progress of one exchange.
    private struct Passage {
        /// What was held before it.
        var held: Int64
        /// Up to where its bytes are in the checkpoint.
        var counted: Int64 = 0
        /// Up to where its marks are passed.
        var parts: Int64 = 0
    }
}
