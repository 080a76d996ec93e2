import JSONPath
import PipelineCore
import PipelineHTTP
import Synchronization

/// A request that must not be sent twice: goes through the submit ledger, and is settled as its `once` says when its
/// answer is lost.
struct GuardedSubmit: Sendable {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// The statuses that accept, unless the request says otherwise.
    var expected = StatusSet.success

    /// Takes the captures out of an answer that accepts. It is called before they are durable, and again for a later
    /// answer when the process ends in between.
    typealias Accept = (SubmitReceipt) async throws(StageFailure) -> Result<JSONObject, CaptureFailure>

    /// Sends it, or finds out what became of it.
    func perform<Checkpoint>(
        in context: StageContext<Checkpoint>, accept: Accept
    ) async throws(StageFailure) -> SubmitOutcome {
        try await perform(try await requests.render(definition, in: context), in: context, accept: accept)
    }

    /// The same for a request whose values need what only its stage knows.
    func perform<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>, accept: Accept
    ) async throws(StageFailure) -> SubmitOutcome {
        let cause = Mutex<String?>(nil)
        let outcome = try await context.submit(
            body: rendered.digestInput,
            send: { record async throws(StageFailure) in
                let answer = try await send(rendered, record, in: context, accept: accept)
                if case .uncertain(let failure, _) = answer { cause.withLock { $0 = failure.title } }
                return answer
            },
            settle: { record async throws(StageFailure) in
                var settlement = SubmitReconciliation(requests: requests, definition: definition)
                if let cause = cause.withLock({ $0 }) { settlement.cause = cause }
                return try await settlement.settle(record, in: context, accept: accept)
            })
        guard case .unknown(let submit) = outcome, definition.onUnknown == .fail else { return outcome }
        throw .definite(
            StepFailure(
                "it is unknown whether the submit was accepted: \(submit.reason)",
                hint: "look at the service; 'pipeline retry --from \(context.facts.step.stage)' sends it again",
                service: requests.service?.name,
                request: context.redact(rendered.line), place: context.facts.place))
    }

    private func send<Checkpoint>(
        _ rendered: RenderedRequest, _ record: SubmitRecord, in context: StageContext<Checkpoint>, accept: Accept
    ) async throws(StageFailure) -> SubmitResponse {
        if let deadline = context.facts.deadline, context.now >= deadline {
            return .notSent(AttemptFailure(Self.tooLate(context), kind: .definite))
        }
        var request = rendered
        if let key = try await definition.once?.key?.decorator(for: record, in: context) {
            request.decorators.insert(key, at: 0)
        }
        let sent = await requests.send(request, in: context) { options in
            // libcurl repeats a request by itself when a kept connection turns out to be gone.
            options.freshConnection = true
            options.onSent = { context.pass(.submitSent) }
        }
        switch sent {
        case .success(let response):
            do throws(StageFailure) {
                return try await judged(response, request, in: context, accept: accept)
            } catch {
                // Whatever kept the answer from being judged: it came, so the submit may have been accepted.
                guard case .failed(let failed) = error, failed.kind != .secret else { throw error }
                return .uncertain(failed.failure)
            }
        case .failure(let failure): return try unanswered(failure, request, in: context)
        }
    }

    private func unanswered<Checkpoint>(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> SubmitResponse {
        let failed = requests.tryFailure(failure, of: rendered, in: context)
        if !failure.connectionMade {
            let isStopped = failure.reason == .cancelled
            return .notSent(isStopped ? AttemptFailure(failed.failure, kind: .silent) : failed)
        }
        if failure.reason == .cancelled || Task.isCancelled { throw .stopped }
        return .uncertain(failed.failure)
    }

    private func judged<Checkpoint>(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        accept: Accept
    ) async throws(StageFailure) -> SubmitResponse {
        let answer = requests.answer(of: response)
        let retryAfter = response.retryAfter(now: context.now)
        switch try await requests.verdict(on: answer, of: rendered, in: context, default: expected) {
        case .ruledOut(let failure, allowsRetry: false): return .refused(failure)
        case .ruledOut(let failure, allowsRetry: true):
            return .notAccepted(AttemptFailure(failure, kind: .answered, retryAfter: retryAfter))
        case .unexpected(let failure):
            switch response.status {
            case 429, 503: return .notAccepted(requests.tryFailure(failure, of: response, in: context))
            case 408, 409, 425: return .uncertain(failure, retryAfter: retryAfter)
            case 401, 403:
                let isRenewed = await requests.hasNewCredentials(for: response.status, of: rendered, in: context)
                return isRenewed ? .notAccepted(AttemptFailure(failure, kind: .answered)) : .refused(failure)
            case 400..<500: return .refused(failure)
            default: return .uncertain(failure, retryAfter: retryAfter)
            }
        case .expected:
            let receipt = SubmitReceipt(answer: answer, isDirect: true, retryAfter: retryAfter)
            switch try await accept(receipt) {
            case .success(let captures): return .accepted(captures)
            case .failure(let failure):
                return .uncertain(requests.failure(failure, answer, of: rendered, in: context))
            }
        }
    }

    static func tooLate<Checkpoint>(_ context: StageContext<Checkpoint>) -> StepFailure {
        let length = context.facts.deadline.map { DurationText.describe($0 - context.facts.started) } ?? ""
        return StepFailure(
            "the stage did not end before its deadline, \(length) after its start",
            hint: "a longer \"deadline\" gives it more time", place: context.facts.place)
    }
}
