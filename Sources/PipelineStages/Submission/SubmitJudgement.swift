import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// Judges a response to a request that must not be sent twice: the one table of what a status says of a submit, an
    /// upload's end included.
    ///
    /// | response | the submit was |
    /// |---|---|
    /// | an expected status whose captures are there | accepted |
    /// | an expected status without them | accepted, and looked for; in a page that is no JSON perhaps accepted |
    /// | an entry of `fail` | refused, or with `retry` not accepted |
    /// | 429, 503, what `retry.statuses` names beyond its defaults | not accepted, and may be sent after the floor |
    /// | 403 that asks to wait | as 429 (``RateLimit``) |
    /// | 307, 308 with a place | refused: it is for another place, and was not sent there (RFC 9110, section 15.4.8) |
    /// | other 3xx with a place | perhaps accepted, and sent again in vain |
    /// | 408, 409, 425 | perhaps accepted: another request with the same key may be under way |
    /// | 401, 403 that new credentials or a new signature may mend | not accepted |
    /// | other 4xx | refused |
    /// | anything else | perhaps accepted |
    func judge<Checkpoint>(
        _ response: HTTPExchangeResponse, toSubmit rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        default expected: StatusSet = .success, accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> SubmitResponse {
        let (answer, retryAfter) = (answer(of: response), response.retryAfter(now: context.now))
        switch try await verdict(on: answer, of: rendered, in: context, default: expected) {
        case .expected:
            let receipt = SubmitReceipt(answer: answer, isDirect: true, retryAfter: retryAfter)
            switch try await accept(receipt) {
            case .success(let captures): return .accepted(captures)
            case .failure(let missing):
                let failure = failure(missing, answer, of: rendered, in: context)
                if answer.mayBeForeign { return .uncertain(failure, retryAfter: retryAfter) }
                return .incomplete(failure, retryAfter: retryAfter)
            }
        case .ruledOut(let failure, allowsRetry: false): return .refused(failure)
        case .ruledOut(let failure, allowsRetry: true):
            return .notAccepted(AttemptFailure(failure, kind: .answered, retryAfter: retryAfter))
        case .unexpected(let failure):
            switch response.judgedStatus {
            case let status where [429, 503].contains(status) || context.facts.retry.namesExpressly(response.status):
                return .notAccepted(tryFailure(failure, of: response, in: context))
            case 307...308 where answer.redirect != nil: return .refused(failure)
            case 408, 409, 425: return .uncertain(failure, retryAfter: retryAfter)
            case 400..<500:
                let isNewer = await hasNewCredentials(for: response.status, of: rendered, in: context)
                let isOutdated = await isOutdated(answer, rendered, in: context)
                return isNewer || isOutdated
                    ? .notAccepted(AttemptFailure(failure, kind: .answered)) : .refused(failure)
            default: return .uncertain(failure, retryAfter: retryAfter)
            }
        }
    }
}

extension ServiceResponse {
    /// True for a page in the place of JSON: something between us and the service may have made it.
    fileprivate var mayBeForeign: Bool { !body.isEmpty && (try? json()) == nil }
}
