import JSONPath
import PipelineCore
import PipelineHTTP

/// The consequence when the service has lost an upload, or when the response to a complete one is lost.
struct UploadLoss {
    /// The sign by which an upload is known to be lost.
    enum Sign: Equatable {
        /// The service says that it is not there.
        case gone
        /// It says so of one whose last byte went out without a response: it may have been complete.
        case goneWhole
        /// It refuses a part that it may have taken before: what comes next in this upload is not known.
        case refused(part: Int)
        /// It had acknowledged bytes, and says nothing of how many it has.
        case silent

        fileprivate func sentence(of name: String) -> String {
            switch self {
            case .gone, .goneWhole: "\(name) no longer has the upload"
            case .refused(let part): "\(name) refuses part \(part), and the response to its first sending was lost"
            case .silent: "\(name) does not say any more how much of the upload it has"
            }
        }
    }

    private static let mostDoubts = 3

    let attempt: UploadAttempt

    private var context: StageContext<UploadCheckpoint> { attempt.context }

    /// Returns a failure of the attempt in place of the belief that an upload is gone; nil when that is to be believed.
    ///
    /// A gateway answers 404 too, while the service behind it starts. Where more than a part is at stake the upload is
    /// given up only after that was said some times, or by a response that shows that it is the service's.
    func doubt(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageFailure? {
        let doubts = writer.checkpoint.progress.doubts
        // The attempts that are left must do for the new upload.
        let most = min(Self.mostDoubts, context.facts.retry.attempts - 2)
        let stake = stake(writer)
        guard [403, 404].contains(response.status), stake > attempt.partSize, doubts < most, !isOwn(response) else {
            return nil
        }
        writer.checkpoint.progress.doubts = doubts + 1
        try await writer.keep()
        let name = attempt.requests.name(of: rendered.description.url)
        var failed = attempt.passing(
            "\(name) answered \(StatusText.describe(response.status)) about the upload",
            hint: "it is asked again before \(SizeText.describe(stake)) are given up", response, rendered)
        failed.pause = UploadAttempt.pause(after: doubts)
        return .failed(failed)
    }

    /// The upload is lost. A new one is made by the next attempt, a bounded number of times.
    func end(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, as sign: Sign = .gone, canBeMadeAnew: Bool,
        _ writer: inout CheckpointWriter
    ) async throws(StageFailure) -> StageFailure {
        if let failure = try await doubt(response, rendered, &writer) { return failure }
        let name = attempt.requests.name(of: rendered.description.url)
        guard canBeMadeAnew else {
            let maker = attempt.definition.url.captureStages.first ?? context.facts.step.stage
            writer.checkpoint.forgetUpload()
            try await writer.keep()
            let isGone = sign == .gone || sign == .goneWhole
            let sentence = isGone ? "\(name) no longer knows the upload's session" : sign.sentence(of: name)
            return attempt.definite(
                "\(sentence), and \"request\" names no way to make another",
                hint: "'pipeline retry \(context.facts.job) --from \(maker)' gets a new one", response, rendered)
        }
        // Handed to the network is not taken by the service; but it can't be told apart.
        let progress = writer.checkpoint.progress
        let stake = stake(writer)
        let lost = stake > 0 ? "\(SizeText.describe(stake)) are lost and sent again" : "what it had is sent again"
        let hasExpired = progress.keptUntil.map { $0 <= context.now } ?? false
        var title = (hasExpired ? "the upload has expired at \(name)" : sign.sentence(of: name)) + "; \(lost)"
        let wasHandedOver = progress.handedOver + progress.confirmed >= attempt.source.size
        let wasWhole = sign == .goneWhole || writer.checkpoint.phase.mayBeComplete && wasHandedOver
        if wasWhole {
            title = "\(name) no longer has the upload, which may have been complete; the file is sent again"
        }
        if try await countLoss(&writer) {
            return attempt.definite(
                "\(name) lost the upload \(progress.losses + 1) times",
                hint: "does the service keep uploads long enough? \"protocol\": \"put\" needs no such memory", response,
                rendered)
        }
        let kept = progress.keptUntil.map { "it had said that it keeps it until \($0)" }
        var hint = wasWhole ? "it may be there twice; \"once\" says how such an upload is found again" : kept
        if case .refused = sign, attempt.stage.parts?.ask == nil {
            hint = "\"ask\" finds out how much of an upload is there"
        }
        var failed = attempt.passing(title, hint: hint, response, rendered)
        failed.retryAfter = nil
        return .failed(failed)
    }

    /// The response to a complete upload is lost: found again as `once` says, else the file is sent again.
    func reconcile(_ writer: inout CheckpointWriter) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        // Beside a request that ends the upload, "once" is about that one.
        guard attempt.definition.once != nil, attempt.stage.complete == nil else {
            throw try await sendAgain(
                "the answer to the upload is lost, and the service does not give it again", &writer)
        }
        let generation = await context.submitGeneration
        var record = SubmitRecord(of: context.facts.submitName, generation: generation)
        record.phase = .sending
        record.firstSent = context.facts.started
        record.misses = writer.checkpoint.progress.misses
        let wanted = attempt.captures(endingFrom: writer.checkpoint.phase)
        var reconciliation = SubmitReconciliation(
            requests: attempt.requests, definition: attempt.definition, digest: record.digest)
        reconciliation.subject = .upload
        let found = try await reconciliation.perform(record, in: context) { receipt in wanted.taken(from: receipt) }
        switch found {
        case .adopted(let captures):
            try await writer.commit(progressed: true)
            return .finished(captures)
        case .resend:
            throw try await sendAgain("the answer to the upload is lost, and nothing of it is at the service", &writer)
        case .lookAgain(let delay):
            writer.checkpoint.progress.misses += 1
            return .waiting(writer.checkpoint, until: .at(context.now + delay), WaitReason(.settle))
        case .refused(let failure), .foreign(let failure): throw .definite(failure)
        case .failed(let failed): throw .failed(failed)
        case .unsettled(let reason): throw attempt.unknown(reason)
        }
    }

    /// Returns how much would be sent again if the upload were gone.
    private func stake(_ writer: CheckpointWriter) -> Int64 {
        let progress = writer.checkpoint.progress
        return max(progress.confirmed, min(progress.handedOver, attempt.source.size))
    }

    /// Returns whether a response shows that the service itself gave it, and nothing in front of it.
    private func isOwn(_ response: HTTPExchangeResponse) -> Bool {
        let marks = ["upload-", "tus-", "x-guploader-", "x-amz-request-id"]
        return response.headers.contains { field in marks.contains { field.name.canonicalName.hasPrefix($0) } }
            || attempt.requests.answer(of: response).xmlText("/Error/Code") != nil
    }

    /// Forgets an upload that is lost; true when it was the last that one order of a person's may lose.
    private func countLoss(_ writer: inout CheckpointWriter) async throws(StageFailure) -> Bool {
        writer.checkpoint.forgetUpload()
        writer.checkpoint.progress.losses += 1
        let isLast = writer.checkpoint.progress.losses >= context.facts.retry.attempts
        // Another attempt is a person's, who has seen to it.
        if isLast { writer.checkpoint.progress.losses = 0 }
        try await writer.commit(progressed: false)
        return isLast
    }

    private func sendAgain(_ title: String, _ writer: inout CheckpointWriter) async throws(StageFailure) -> StageFailure
    {
        let isLast = try await countLoss(&writer)
        return .failed(
            AttemptFailure(
                StepFailure(
                    isLast ? title : "\(title); the file is sent again, and may be there twice",
                    hint: "\"once\" says how such an upload is found again", service: attempt.requests.service?.name,
                    place: context.facts.place), kind: isLast ? .definite : .answered))
    }
}

extension UploadPhase {
    /// True from before a request was begun whose response ends the upload.
    var mayBeComplete: Bool { if case .open(let upload) = self { upload.mayBeComplete } else { false } }
}

extension CaptureSet {
    /// The values in what shows a submit to have been accepted.
    func taken(from receipt: SubmitReceipt) -> Result<JSONObject, CaptureFailure> {
        Result { () throws(CaptureFailure) in try values(in: receipt.answer) }
    }
}
