import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension UploadRun {
    /// An upload of one request that must not be sent twice: it goes through the submit ledger, like a submit.
    mutating func performOnce() async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        guard case .send(let request) = session.begin() else {
            throw .definite(StepFailure("the upload can't begin"))
        }
        let definition = stage.requests.definition
        let input = Array(
            "\(definition.method.rawValue) \(source.path) \(source.size) \(source.fingerprint.modified)".utf8)
        let (requests, context) = (requests, context)
        let outcome = try await context.submit(
            body: input,
            send: { record async throws(StageFailure) in try await send(request, record) },
            settle: { record async throws(StageFailure) in
                try await SubmitReconciliation(requests: requests, definition: definition)
                    .settle(record, in: context) { receipt in taken(from: receipt) }
            })
        if case .unknown(let submit) = outcome, definition.onUnknown == .fail { throw unknown(submit.reason) }
        return try await ended(outcome)
    }

    /// What became of the upload, after what became of a submit that ends it.
    mutating func ended(_ outcome: SubmitOutcome) async throws(StageFailure) -> StageOutcome<UploadCheckpoint> {
        switch outcome {
        case .submitted:
            try await commit(countsBytes: true)
            return .finished([:])
        case .waiting(let time): return .waiting(checkpoint, until: .at(time), WaitReason(.settle))
        case .unknown(let submit): return .unknown(checkpoint, submit)
        }
    }

    private mutating func send(
        _ request: UploadRequest, _ record: SubmitRecord
    ) async throws(StageFailure) -> SubmitResponse {
        try await commitBeforeSending(request)
        var rendered = try await stage.requests.render(request, of: source, in: context)
        rendered.options.freshConnection = true
        if let key = try await stage.requests.definition.once?.key?.decorator(for: record, in: context) {
            rendered.decorators.insert(key, at: 0)
        }
        switch try await outcome(of: request, rendered) {
        case .success(let response): return try await judged(response, rendered)
        case .failure(let failure):
            try await keep()
            let failed = requests.tryFailure(failure, of: rendered, in: context)
            if failure.lacksEnd(of: rendered) {
                if failure.reason == .cancelled || Task.isCancelled {
                    return .notSent(AttemptFailure(failed.failure, kind: .silent))
                }
                return .notSent(failed)
            }
            if failure.reason == .cancelled || Task.isCancelled { throw .stopped }
            return .uncertain(failed.failure)
        }
    }

    private func judged(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest
    ) async throws(StageFailure) -> SubmitResponse {
        let answer = requests.answer(of: response)
        switch try await requests.verdict(on: answer, of: rendered, in: context) {
        case .expected:
            switch taken(from: SubmitReceipt(answer: answer, isDirect: true, retryAfter: nil)) {
            case .success(let captures): return .accepted(captures)
            case .failure(let failure):
                return .uncertain(requests.failure(failure, answer, of: rendered, in: context))
            }
        case .ruledOut(let failure, let allowsRetry):
            guard allowsRetry else { return .refused(failure) }
            return .notAccepted(
                AttemptFailure(failure, kind: .answered, retryAfter: response.retryAfter(now: context.now)))
        case .unexpected(let failure):
            switch response.status {
            case 429, 503: return .notAccepted(requests.tryFailure(failure, of: response, in: context))
            case 408, 409, 425:
                return .uncertain(failure, retryAfter: response.retryAfter(now: context.now))
            case 401, 403:
                let isRenewed = await requests.hasNewCredentials(for: response.status, of: rendered, in: context)
                return isRenewed ? .notAccepted(AttemptFailure(failure, kind: .answered)) : .refused(failure)
            case 400..<500: return .refused(failure)
            default: return .uncertain(failure, retryAfter: response.retryAfter(now: context.now))
            }
        }
    }
}
