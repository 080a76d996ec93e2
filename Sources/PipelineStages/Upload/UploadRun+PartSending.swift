import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// Sends the parts that the service does not have, some at a time; gives the answer to the last.
    mutating func sendMissing(
        _ parts: PartsRequests
    ) async throws(StageFailure) -> (HTTPExchangeResponse, RenderedRequest)? {
        guard let state = checkpoint.parts else { return nil }
        let table = PartTable(total: source.size, size: state.partSize)
        let most = try await context.value(of: parts.definition.parallel)
        var flight = PartUploader(
            parts, table, state, most: most, roundTrip: roundTrip, requests: requests, context: context)
        var last: (HTTPExchangeResponse, RenderedRequest)?
        // A failure of one part lets the others end: what they sent need not be sent again.
        await withTaskGroup(of: PartUploader.Event.self) { group in
            flight.watchPace(&group)
            while let event = await flight.next(&group) {
                guard case .ended(let sent) = event else {
                    checkpoint.parts?.streams = flight.proven
                    continue
                }
                do throws(StageFailure) {
                    last = (try await take(sent, parts, table, after: flight.failure), sent.rendered)
                } catch {
                    flight.failure = flight.failure ?? error
                    if Task.isCancelled || source.hasChanged { group.cancelAll() }
                }
            }
            group.cancelAll()
        }
        try await keep()
        if let failure = flight.failure {
            // A part that is read for its checksum tells nobody that the file is another one.
            if source.hasChanged, checkpoint.source != nil { throw await endPartsAsChanged(parts) }
            throw failure
        }
        return last
    }

    /// Keeps what the service gave for a part.
    /// - Parameter failure: what the flight has failed by before; nil for nothing.
    private mutating func take(
        _ sent: PartUploader.Sent, _ parts: PartsRequests, _ table: PartTable, after failure: StageFailure?
    ) async throws(StageFailure) -> HTTPExchangeResponse {
        if source.hasChanged { throw await endPartsAsChanged(parts) }
        switch sent.result {
        case .failure(let failure):
            if case .sourceChanged = failure.reason { throw await endPartsAsChanged(parts) }
            throw requests.failure(failure, of: sent.rendered, in: context)
        case .success(let response):
            if parts.isStorage, response.status == 404 {
                // What all parts on their way are told is one loss, and one reason to doubt it.
                if let failure { throw failure }
                throw try await end(.gone, response, sent.rendered)
            }
            if parts.isStorage, let failure = damaged(response, sent.rendered) { throw failure }
            let answer = try await requests.judge(
                response, of: sent.rendered, in: context, adjust: PartsRequests.adding(sent.number, of: table))
            let receipt = try receipt(answer, sent.rendered, parts)
            checkpoint.parts?.receipts[sent.number] = receipt
            if let checksum = checksum(of: sent.rendered) {
                var known = checkpoint.parts?.checksums ?? [:]
                known[sent.number] = checksum
                checkpoint.parts?.checksums = known
            }
            checkpoint.confirmed += table.length(of: sent.number)
            checkpoint.uncounted += table.length(of: sent.number)
            // One commit for each part, and fewer once there are so many that a commit is long.
            if (checkpoint.parts?.receipts.count ?? 0) <= 256 || isCommitDue { try await commit(countsBytes: true) }
            context.pass(.uploadPart)
            return response
        }
    }

    /// The checksum that a part was sent with; nil for none.
    private func checksum(of rendered: RenderedRequest) -> String? {
        checkpoint.parts?.checksum.flatMap { rendered.description.headers[$0.field] }
    }

    /// A part that was damaged on its way may be sent once more; nil for any other answer.
    private func damaged(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) -> StageFailure? {
        guard response.status == 400 else { return nil }
        let answer = requests.answer(of: response)
        let codes: Set<String> = ["BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"]
        guard let code = answer.xmlText("/Error/Code"), codes.contains(code) else { return nil }
        let step = requests.failure(
            "a part of the file was damaged on its way to \(requests.name(of: rendered.description.url))", answer,
            of: rendered, hint: "it is sent again", in: context)
        return .failed(AttemptFailure(step, kind: .answered))
    }

    private func receipt(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, _ parts: PartsRequests
    ) throws(StageFailure) -> String {
        guard let definition = parts.definition.part else {
            guard let tag = answer.header("ETag").first, !tag.isEmpty else {
                // Somebody else on the way may have given it.
                let failure = requests.failure("the answer to a part has no ETag", answer, of: rendered, in: context)
                throw .failed(AttemptFailure(failure, kind: .answered))
            }
            return tag
        }
        let captures = try requests.captures(definition.capture, from: answer, of: rendered, in: context)
        var bytes: [UInt8] = []
        JSON.object(captures).write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes the parts of a file that is no longer the same. What an end has made of them stays, where that may have been
    /// taken; S3 keeps it by itself.
    mutating func endPartsAsChanged(_ parts: PartsRequests) async -> StageFailure {
        let isOpen = await context.hasOpenSubmit
        let mayHaveEnded = isOpen || checkpoint.parts?.isCompleting == true
        if parts.isStorage || !mayHaveEnded { await remove(parts) }
        return await endAsChanged()
    }
}
