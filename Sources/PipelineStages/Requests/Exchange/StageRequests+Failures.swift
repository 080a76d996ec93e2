import JSONPath
import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// An exchange that gave no whole answer, as the failure of a try.
    func failure<Checkpoint>(
        _ failure: ExchangeFailure, of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) -> StageFailure {
        if failure.reason == .cancelled || Task.isCancelled { return .stopped }
        return .failed(tryFailure(failure, of: rendered, in: context))
    }

    /// Returns the same as data: silent when nothing but time can tell, definite when the same request fails the same
    /// way.
    func tryFailure<Checkpoint>(
        _ failure: ExchangeFailure, of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) -> AttemptFailure {
        if case .held(let wait) = failure.reason {
            let hint = wait == nil ? ExchangeAdvice.longLine : nil
            return AttemptFailure(
                StepFailure(failure.message, hint: hint, service: service?.name, place: context.facts.place),
                kind: .held(wait == nil ? .renewal : .closed), retryAfter: wait)
        }
        if case .answeredEarly(let response) = failure.reason {
            return AttemptFailure(early(response, failure, of: rendered, in: context), kind: failure.kind)
        }
        let name = name(of: rendered.description.url)
        let detail = failure.clause
        let isAnswered = [.undecodable, .protocolError].contains(failure.reason)
        var title = failure.sparesService ? detail : "\(name)\(isAnswered ? "" : " gave no answer"): \(detail)"
        var status: Int?
        if case .foreignCoding(let coding, let answered) = failure.reason {
            status = answered
            title =
                "\(name) answered \(StatusText.describe(answered)) in the content coding '\(coding)', which is not undone "
                + "here"
        }
        // Of what was never a request no line is to be looked at, and what was not ready says nothing of the service.
        let isReady = if case .notReady = failure.reason { false } else { true }
        let step = StepFailure(
            ShownText.excerpt(title, limit: 600, in: context),
            hint: ExchangeAdvice(name: name, isService: service != nil, hasOwnProxy: rendered.options.proxy != nil)
                .text(after: failure.reason),
            service: isReady ? service?.name : nil,
            request: isReady && !failure.isOfToken ? context.redact(rendered.line) : nil,
            status: status, place: context.facts.place)
        return AttemptFailure(
            step, kind: rendered.beginsAgain && failure.isTooLong ? .answered : failure.kind,
            retryAfter: failure.tokenWait)
    }

    /// An answer that accepts what was not sent.
    private func early<Checkpoint>(
        _ response: HTTPExchangeResponse, _ failure: ExchangeFailure, of rendered: RenderedRequest,
        in context: StageContext<Checkpoint>
    ) -> StepFailure {
        let sent = SizeText.describe(failure.requestBytesSent)
        let whole = failure.requestBodyLength.map { " of \(SizeText.describe($0))" } ?? ""
        let title =
            "\(name(of: rendered.description.url)) answered \(StatusText.describe(response.status)) when "
            + "\(sent)\(whole) had been sent"
        return self.failure(
            title, answer(of: response), of: rendered, hint: "something on the way may have answered in its place",
            in: context)
    }

    /// A capture that its answer lacks.
    func failure<Checkpoint>(
        _ failure: CaptureFailure, _ answer: ServiceResponse, of rendered: RenderedRequest,
        in context: StageContext<Checkpoint>
    ) -> StepFailure {
        self.failure(failure.sentence, answer, of: rendered, hint: failure.hint, in: context)
    }

    /// The captures of an answer; what it lacks is a definite failure.
    func captures<Checkpoint>(
        _ captures: CaptureSet, from answer: ServiceResponse, of rendered: RenderedRequest,
        in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> JSONObject {
        context.conclude(with: answer)
        do throws(CaptureFailure) {
            return try captures.values(in: answer)
        } catch {
            throw .definite(failure(error, answer, of: rendered, in: context))
        }
    }
}
