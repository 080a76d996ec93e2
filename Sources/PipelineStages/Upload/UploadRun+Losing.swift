import JSONPath
import PipelineCore
import PipelineHTTP

/// What follows when the service has lost an upload, or when the answer to a complete one is lost.
extension UploadRun {
    /// The service no longer has the upload. A new one is made by the next try, a bounded number of times.
    mutating func endAsGone(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> StageFailure {
        if let failure = try await doubt(response, rendered) { return failure }
        let name = requests.name(of: rendered.description.url)
        guard session.canBeMadeAnew else {
            checkpoint.forgetUpload()
            try await keep()
            return definite(
                "\(name) no longer knows the upload's session, and \"request\" names no way to make another",
                hint: "'pipeline retry --from' the stage that made it gets a new one", response, rendered)
        }
        var title = "\(name) no longer has the upload; \(SizeText.describe(stake)) are lost and sent again"
        // Handed to the network is not taken by the service; but it can't be told apart.
        let wasWhole = checkpoint.mayBeComplete && checkpoint.uncounted + checkpoint.confirmed >= source.size
        if wasWhole {
            title = "\(name) no longer has the upload, which may have been complete; the file is sent again"
        }
        let (keptUntil, losses) = (checkpoint.keptUntil, checkpoint.losses + 1)
        let answer = requests.answer(of: response)
        if try await countLoss() {
            return definite(
                "\(name) lost the upload \(losses) times",
                hint: "does the service keep uploads long enough? \"protocol\": \"put\" needs no such memory", response,
                rendered)
        }
        let kept = keptUntil.map { "it had said that it keeps it until \($0)" }
        let hint = wasWhole ? "it may be there twice; \"once\" says how such an upload is found again" : kept
        return .failed(
            AttemptFailure(requests.failure(title, answer, of: rendered, hint: hint, in: context), kind: .answered))
    }

    /// The answer to a complete upload is lost: found again as `once` says, else the file is sent again.
    mutating func settleLost() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        let definition = stage.requests.definition
        // Beside a request that ends the upload, "once" is about that one.
        guard definition.once != nil, stage.complete == nil else {
            throw try await lost("the answer to the upload is lost, and the service does not give it again")
        }
        var record = SubmitRecord(
            key: SubmitKey.text(jobKey: context.facts.jobKey, step: context.facts.step, generation: 1), generation: 1,
            digest: "", phase: .sending)
        record.firstSent = context.facts.started
        record.misses = checkpoint.misses
        let settlement = try await SubmitReconciliation(requests: requests, definition: definition)
            .settle(record, in: context) { receipt in taken(from: receipt) }
        switch settlement {
        case .adopted(let captures):
            try await commit(countsBytes: true)
            return .finished(captures)
        case .resend:
            throw try await lost("the answer to the upload is lost, and nothing of it is at the service")
        case .lookAgain(let delay):
            checkpoint.misses += 1
            return .waiting(checkpoint, until: .at(context.now + delay), WaitReason(.settle))
        case .refused(let failure): throw .definite(failure)
        case .failed(let failed): throw .failed(failed)
        case .unsettled(let reason): throw unknown(reason)
        }
    }

    /// That nobody can know whether the service has the file, and what to do about it.
    func unknown(_ reason: String) -> StageFailure {
        .definite(
            StepFailure(
                "it is unknown whether the upload was accepted: \(reason)",
                hint: "look at the service; 'pipeline retry --from \(context.facts.step.stage)' sends the file again",
                service: requests.service?.name, place: context.facts.place))
    }

    func taken(from receipt: SubmitReceipt) -> Result<JSONObject, CaptureFailure> {
        do throws(CaptureFailure) {
            let captures = stage.complete?.capture ?? stage.requests.definition.capture
            return .success(try captures.values(in: receipt.answer))
        } catch {
            return .failure(error)
        }
    }

    /// Forgets an upload that is lost; true when it was the last that one order of a person's may lose.
    private mutating func countLoss() async throws(StageFailure) -> Bool {
        checkpoint.forgetUpload()
        checkpoint.losses += 1
        let isLast = checkpoint.losses >= context.facts.retry.attempts
        // Another try is a person's, who has seen to it.
        if isLast { checkpoint.losses = 0 }
        try await commit(countsBytes: false)
        return isLast
    }

    private mutating func lost(_ title: String) async throws(StageFailure) -> StageFailure {
        let isLast = try await countLoss()
        return .failed(
            AttemptFailure(
                StepFailure(
                    isLast ? title : "\(title); the file is sent again, and may be there twice",
                    hint: "\"once\" says how such an upload is found again", service: requests.service?.name,
                    place: context.facts.place), kind: isLast ? .definite : .answered))
    }
}
