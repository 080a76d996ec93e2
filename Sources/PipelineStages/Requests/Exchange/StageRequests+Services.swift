import HTTPTypes
import PipelineCore
import PipelineHTTP

/// What requests of all jobs have to do with each other: a service that takes nothing now, places for remote jobs.
extension StageRequests {
    /// The service that a request goes to, by its origin and the account that asks.
    func id<Checkpoint>(of rendered: RenderedRequest, in context: StageContext<Checkpoint>) -> ServiceID {
        let description = rendered.description
        var text = URLParts(description.url)?.origin ?? description.url
        for field in description.headers where description.isCredential(field.name) {
            text += "\u{0}\(field.name.canonicalName)=\(field.value)"
        }
        for decorator in rendered.decorators {
            if let credentials = decorator as? any CredentialDecorator { text += "\u{0}\(credentials.account)" }
            guard let headers = decorator as? Headers else { continue }
            for (name, value) in headers.fields {
                guard let field = HTTPField.Name(name), description.isCredential(field) else { continue }
                text += "\u{0}\(field.canonicalName)=\(value)"
            }
        }
        return ServiceID(context.digest(Array(text.utf8)))
    }

    /// A request that is not sent because its service is closed.
    func held<Checkpoint>(
        _ until: Timestamp, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) -> ExchangeFailure {
        ExchangeFailure(
            .held(max(.zero, until - context.now)),
            message: "\(name(of: rendered.description.url)) takes no requests now, as it said")
    }

    /// Takes in what a response, or the lack of one, says of the service as a whole.
    func close<Checkpoint>(
        _ id: ServiceID, by result: inout Result<HTTPExchangeResponse, ExchangeFailure>, _ rendered: RenderedRequest,
        isTrial: Bool, in context: StageContext<Checkpoint>
    ) async {
        let name = service?.name ?? URLParts(rendered.description.url)?.authority ?? rendered.description.url
        switch result {
        case .success(var response):
            // A status that the document counts as success says nothing else.
            let isExpected = rendered.definition.expect?.constant?.contains(response.status) == true
            let answer: ServiceAnswer =
                isExpected
                ? .taken : ServiceAnswer(status: response.status, retryAfter: response.retryAfter(now: context.now))
            response.closing = await context.services.record(answer, of: id, named: name, isTrial: isTrial)
            result = .success(response)
        case .failure:
            _ = await context.services.record(.nothing, of: id, named: name, isTrial: isTrial)
        }
    }

    /// Takes one of the places that the service has for remote jobs; without one the step waits, and nothing is counted.
    func claimComputation<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) {
        // Of one that went out before its place is there, or it is one of before there were any.
        guard let setting = service?.limits?.computations, await !context.hasOpenSubmit,
            await !context.hasSubmitted
        else { return }
        let limit = try await context.value(of: setting)
        let until = await context.services.claimComputation(
            at: id(of: rendered, in: context), for: context.facts.step, of: context.facts.job, limit: limit)
        guard let until else { return }
        let jobs = limit == 1 ? "1 job" : "\(limit) jobs"
        throw .failed(
            AttemptFailure(
                StepFailure(
                    "\(name(of: rendered.description.url)) has \(jobs) that have not ended, as many as it may have",
                    service: service?.name, place: context.facts.place),
                kind: .held(.full), retryAfter: max(.zero, until - context.now)))
    }
}
