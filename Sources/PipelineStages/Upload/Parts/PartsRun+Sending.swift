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
            throw requests.failure(failure, of: sent.rendered, in: context)
        case .success(let response):
            if parts.isStorage, response.status == 404 {
                // What all parts on their way are told is one loss, and one reason to doubt it.
                if let failure { throw failure }
                record()
                throw try await gone(response, sent.rendered)
            }
            if parts.isStorage, let failure = damaged(response, sent.rendered) { throw failure }
            if try await parts.isLost(after: response, to: table[sent.number], sent.rendered) {
                if let failure { throw failure }
                throw try await giveUp(response, sent.rendered)
            }
            try await take(response, of: table[sent.number], sent.rendered)
            return response
        }
    }

    /// Gives the upload up, and has what is left of it removed.
    private mutating func giveUp(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure {
        record()
        let upload = writer.checkpoint
        let failure = try await gone(response, rendered)
        if case .pending = writer.checkpoint.phase, definition.cancel != nil { await attempt.remove(upload) }
        return failure
    }

    /// Keeps what a response gave for a part, if it accepts it.
    mutating func take(
        _ response: HTTPExchangeResponse, of part: FilePart, _ rendered: RenderedRequest
    ) async throws(StageFailure) {
        let answer = try await requests.judge(response, of: rendered, in: context, adjust: parts.adding(part))
        state.receipts[part.number] = try await receipt(of: part, answer, rendered)
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

    /// A part that was damaged on its way may be sent once more; nil for any other response.
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
        return try await receipt(of: part, captures: captures)
    }

    /// Returns what is kept of a part: its captures, and the author's values.
    func receipt(of part: FilePart, captures: JSONObject) async throws(StageFailure) -> String {
        let keep = definition.keep
        let values =
            keep.entries.isEmpty
            ? captures
            : try await context.evaluate(with: parts.adding(part)) {
                scope throws(EvaluationFailure) in
                var values = captures
                for entry in keep.entries { values[entry.name] = try entry.value.evaluate(in: scope) }
                return values
            }
        var bytes: [UInt8] = []
        JSON.object(values).write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
