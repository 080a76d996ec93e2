import JSONPath
import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// Takes the answer that ended the upload: judges it, and takes the captures out.
    mutating func finish(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let answer: ServiceResponse
        do throws(StageFailure) {
            answer = try await requests.judge(response, of: rendered, in: context)
        } catch {
            // The upload is over, whatever was said to it: another try is another upload.
            checkpoint.forgetUpload()
            try await keep()
            throw error
        }
        return try await conclude(answer, rendered)
    }

    /// Takes the captures out of an answer that ended the upload and was judged.
    mutating func conclude(
        _ answer: ServiceResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let captures: JSONObject
        do throws(StageFailure) {
            captures = try requests.captures(stage.requests.definition.capture, from: answer, of: rendered, in: context)
        } catch {
            if Self.isGarbled(answer) { throw try await endAsGarbled(error) }
            // An answer that was asked for again need not be the one that was lost.
            guard session.isReplaying else { throw error }
            return try await settleLost()
        }
        if let complete = stage.complete { return try await fill(captures, then: complete) }
        // The step's end, which follows, takes it along.
        let moved = BytesMoved(sent: checkpoint.uncounted)
        checkpoint.uncounted = 0
        try await context.stage(checkpoint, moved: moved)
        if let whole = digest?.whole() { stage.digests.note(whole.digest, of: source.path, whole.version) }
        return .finished(captures)
    }

    /// Whether an answer says that it is JSON and is none: it was damaged on its way, and says nothing of the upload.
    private static func isGarbled(_ answer: ServiceResponse) -> Bool {
        let type = answer.header("Content-Type").first?.lowercased() ?? ""
        return type.contains("json") && (try? answer.json()) == nil
    }

    /// A damaged answer is as good as a lost one: the next try asks for it again, or sends the file again.
    private mutating func endAsGarbled(_ failure: StageFailure) async throws(StageFailure) -> StageFailure {
        try await keep()
        guard case .failed(var failed) = failure else { return failure }
        failed.kind = .answered
        return .failed(failed)
    }

    /// A session that can't go on, as a failure of the try or an end by other means.
    mutating func end(
        _ failure: UploadFailure, _ response: HTTPExchangeResponse?, _ rendered: RenderedRequest?
    ) async throws(StageFailure) -> StageFailure {
        guard let response, let rendered else { return .definite(StepFailure("the upload can't begin")) }
        switch failure {
        case .busy, .refusing: checkpoint.held = (checkpoint.held ?? 0) + 1
        default: break
        }
        try await keep()
        let name = requests.name(of: rendered.description.url)
        switch failure {
        case .refused: return await refusal(response, rendered)
        case .busy: return held("\(name) still holds the upload for another request", response, rendered)
        case .refusing(let status): return held("\(name) keeps refusing bytes with \(status)", response, rendered)
        case .gone: return try await endAsGone(response, rendered)
        case .unclear:
            let step = requests.failure(
                "\(name) did not say how much of the file it has", requests.answer(of: response), of: rendered,
                hint: "something on the way may have answered in its place", in: context)
            return .failed(AttemptFailure(step, kind: .answered, retryAfter: response.retryAfter(now: context.now)))
        case .unsupported:
            return definite(
                "\(name) does not speak \(session.language)",
                hint: "use \"protocol\": \"put\" or \"multipart\"", response, rendered)
        case .contradiction(let complaint):
            await removeUpload()
            checkpoint.forgetUpload()
            try await keep()
            return definite("\(name) contradicts itself: \(complaint)", response, rendered)
        case .wrong(let complaint):
            // It is the same upload that another try of this one asks for.
            let again = "if it stays so, 'pipeline retry --from \(context.facts.step.stage)' makes another upload"
            return definite(
                "\(name) contradicts itself: \(complaint)", hint: checkpoint.url == nil ? nil : again, response,
                rendered)
        case .tooLarge(let limit):
            return definite(
                "the file has \(SizeText.describe(source.size)), and \(name) takes \(SizeText.describe(limit)) at most",
                hint: "send a smaller file", response, rendered)
        case .tooSmall(let limit):
            return definite(
                "the file has \(SizeText.describe(source.size)), and \(name) takes no less than "
                    + SizeText.describe(limit),
                hint: "send a larger file", response, rendered)
        }
    }

    /// A service may not notice for a minute that a connection is gone. Until then it holds the upload, and each question
    /// costs one of the tries that there are: the pauses between them grow.
    private func held(
        _ title: String, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) -> StageFailure {
        let step = requests.failure(
            title, requests.answer(of: response), of: rendered,
            hint: "it may still wait for the connection that broke", in: context)
        let pause = Self.pause(after: (checkpoint.held ?? 1) - 1)
        let floor = response.retryAfter(now: context.now)
        return .failed(AttemptFailure(step, kind: .answered, retryAfter: floor, pause: floor == nil ? pause : .zero))
    }

    /// An exchange without a whole answer. What was sent is kept in mind; the next try asks for the offset.
    mutating func end(_ failure: ExchangeFailure, _ rendered: RenderedRequest) async -> StageFailure {
        do throws(StageFailure) {
            try await keep()
        } catch {
            return error
        }
        return requests.failure(failure, of: rendered, in: context)
    }

    /// The file is no longer the one of which a part was sent. What is at the service is removed there, and the next
    /// try, which only a person can order, begins anew.
    mutating func endAsChanged() async -> StageFailure {
        session.note(in: &checkpoint)
        let isOpen = await context.hasOpenSubmit
        // Of an end that may have been taken nothing is to be removed.
        if !isOpen { await removeUpload() }
        checkpoint.forgetUpload()
        checkpoint.source = nil
        // What is found of it, or answered to its key, would be taken for the file as it is now.
        checkpoint.isOvertaken = isOpen ? true : nil
        do throws(StageFailure) {
            try await commit(countsBytes: true)
        } catch {
            return error
        }
        return changed(isOpen: isOpen)
    }

    /// Removes what is at the service; whatever it answers, more can't be done.
    private func removeUpload() async {
        guard let request = session.cancellation, !Task.isCancelled,
            let rendered = try? await stage.requests.render(request, of: source, in: context)
        else { return }
        _ = await requests.send(rendered, in: context) { $0.totalTimeout = .seconds(10) }
    }

    /// That the file is another one, and what to do about it.
    func changed(isOpen: Bool) -> StageFailure {
        let again =
            isOpen
            ? "what it was before may be at the service; 'pipeline retry --from \(context.facts.step.stage)' sends it as it is"
            : "when it is as it should be, 'pipeline retry' sends it from the beginning"
        return .definite(
            StepFailure(
                "the file changed while it was being uploaded: \(source.path)", hint: again,
                service: requests.service?.name, place: context.facts.place))
    }

    /// Keeps what the journal does not yet have.
    mutating func keep() async throws(StageFailure) {
        if checkpoint != committed { try await commit(countsBytes: false) }
    }

    func definite(
        _ title: String, hint: String? = nil, _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) -> StageFailure {
        .definite(requests.failure(title, requests.answer(of: response), of: rendered, hint: hint, in: context))
    }

    private func refusal(_ response: HTTPExchangeResponse, _ rendered: RenderedRequest) async -> StageFailure {
        do throws(StageFailure) {
            _ = try await requests.judge(response, of: rendered, in: context)
            return definite("the upload can't go on after this answer", response, rendered)
        } catch {
            return error
        }
    }
}
