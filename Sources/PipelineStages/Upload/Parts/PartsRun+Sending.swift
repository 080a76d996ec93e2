import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension PartsRun {
    /// Sends the parts that the service does not have, some at a time; gives the response to the last.
    mutating func sendMissing() async throws(StageFailure) -> Ended? {
        let most = try await context.value(of: definition.parallel)
        var uploader = PartUploader(
            parts, table, state, most: most, roundTrip: roundTrip, requests: requests, context: context)
        var last: Ended?
        // A failure of one part lets the others end: what they sent need not be sent again.
        await withTaskGroup(of: PartUploader.Event.self) { group in
            uploader.watchPace(&group)
            while let event = await uploader.next(&group) {
                guard case .ended(let sent) = event else {
                    state.streams = uploader.proven
                    continue
                }
                do throws(StageFailure) {
                    last = (try await take(sent, after: uploader.failure), sent.rendered)
                } catch {
                    uploader.failure = uploader.failure ?? error
                    if Task.isCancelled || attempt.source.hasChanged { group.cancelAll() }
                }
            }
            group.cancelAll()
        }
        // A failure may have given the upload up.
        if case .parts = writer.checkpoint.phase { try await keep() }
        if let failure = uploader.failure {
            // A part that is read for its checksum tells nobody that the file is another one.
            if attempt.source.hasChanged, writer.checkpoint.source != nil { throw await endAsChanged() }
            throw failure
        }
        return last
    }

    mutating func endAsChanged() async -> StageFailure {
        record()
        return await attempt.endAsChanged(&writer)
    }

    /// Keeps what the service gave for a part.
    /// - Parameter failure: what the upload has failed by before; nil for nothing.
    private mutating func take(
        _ sent: PartUploader.Sent, after failure: StageFailure?
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        // Given up meanwhile: what still comes is for nobody.
        guard case .parts = writer.checkpoint.phase else { throw failure ?? .stopped }
        if attempt.source.hasChanged { throw await endAsChanged() }
        switch sent.result {
        case .failure(let failure):
            if case .sourceChanged = failure.reason { throw await endAsChanged() }
            if failure.connectionMade { doubts.insert(sent.number) }
            throw requests.failure(failure, of: sent.rendered, in: context)
        case .success(let response):
            if parts.isStorage, response.status == 404 {
                // What all parts on their way are told is one loss, and one reason to doubt it.
                if let failure { throw failure }
                record()
                throw try await gone(response, sent.rendered)
            }
            if parts.isStorage, let failure = parts.damage(response, sent.rendered) { throw failure }
            let part = table[sent.number]
            let isAgain = doubts.contains(part.number)
            if let sign = try await parts.loss(after: response, to: part, isAgain: isAgain, sent.rendered) {
                if let failure { throw failure }
                throw try await giveUp(response, to: part, sent.rendered, as: sign)
            }
            try await take(response, of: part, sent.rendered)
            return response
        }
    }

    /// Gives the upload up, and has what is left of it removed, unless the part that is refused may have ended it.
    mutating func giveUp(
        _ response: HTTPExchangeResponse, to part: FilePart, _ rendered: RenderedRequest, as sign: UploadLoss.Sign
    ) async throws(StageFailure) -> StageFailure {
        let isLast = part.offset + part.size == table.total && state.receipts.count == part.number - 1
        let mayHaveEnded = isLast && parts.endsWithPart && doubts.contains(part.number)
        if mayHaveEnded {
            let name = requests.name(of: rendered.description.url)
            if case .refused = sign { return unknownEnd("\(name) refuses it the second time") }
            if attempt.definition.once != nil { return unknownEnd("\(name) no longer has the upload") }
        }
        record()
        let upload = writer.checkpoint
        let failure = try await gone(response, rendered, as: mayHaveEnded ? .goneWhole : sign)
        // What another stage has made goes on there with fresh links to it.
        if case .pending = writer.checkpoint.phase, definition.cancel != nil, definition.creates {
            await attempt.remove(upload)
        }
        return failure
    }

    /// Keeps what a response gave for a part, if it accepts it.
    mutating func take(
        _ response: HTTPExchangeResponse, of part: FilePart, _ rendered: RenderedRequest
    ) async throws(StageFailure) {
        // Whatever is no refusal may be said of a part that was taken.
        let isRefusal = (400..<500).contains(response.status) && response.status != 408 || response.status == 503
        if !isRefusal { doubts.insert(part.number) }
        let answer = try await requests.judge(response, of: rendered, in: context, adjust: parts.adding(part))
        state.receipts[part.number] = try await receipt(of: part, answer, rendered)
        doubts.remove(part.number)
        if let checksum = state.checksum.flatMap({ rendered.description.headers[$0.field] }) {
            state.checksums = (state.checksums ?? [:]).merging([part.number: checksum]) { $1 }
        }
        writer.checkpoint.progress.confirmed += part.size
        writer.checkpoint.progress.handedOver += part.size
        // One commit for each part, and fewer once there are so many that a commit is long.
        if state.receipts.count <= 256 || writer.isDue {
            record()
            try await writer.commit(progressed: true)
        }
        context.pass(.uploadPart)
    }

    private func receipt(
        of part: FilePart, _ answer: ServiceResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> String {
        guard let request = definition.part else {
            guard let tag = answer.header("ETag").first, !tag.isEmpty else {
                // Somebody else on the way may have given it.
                let failure = requests.failure("the answer to a part has no ETag", answer, of: rendered, in: context)
                throw .failed(AttemptFailure(failure, kind: .answered))
            }
            return tag
        }
        let captures = try requests.captures(request.capture, from: answer, of: rendered, in: context)
        return try await parts.receipt(of: part, captures: captures)
    }
}
