import JSONPath
import PipelineCore
import PipelineHTTP

/// A request that must not be sent twice: goes through the submit ledger, and is reconciled as its `once` says when its
/// response is lost.
struct GuardedSubmit: Sendable {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// The statuses that accept, unless the request says otherwise.
    var expected = StatusSet.success
    var subject = Subject.submit

    /// Takes the captures out of a response that accepts. It is called before they are durable, and again for a later
    /// response when the process ends in between.
    typealias Accept = (SubmitReceipt) async throws(StageFailure) -> Result<JSONObject, CaptureFailure>

    /// One exchange of the submit.
    struct Exchange {
        let rendered: RenderedRequest
        let result: Result<HTTPExchangeResponse, ExchangeFailure>
        /// True when so little of a request that failed went out that no service can have accepted it.
        let cannotHaveArrived: Bool
    }

    /// The thing that is submitted, in the words of messages.
    enum Subject: String {
        case submit, upload
    }

    /// Sends it, or finds out what became of it.
    func perform<Checkpoint>(
        in context: StageContext<Checkpoint>, accept: Accept
    ) async throws(StageFailure) -> SubmitOutcome {
        try await perform(try await render(in: context), in: context, accept: accept)
    }

    /// The request with its values put in: once more, where it is to go out under another key.
    func render<Checkpoint>(in context: StageContext<Checkpoint>) async throws(StageFailure) -> RenderedRequest {
        let rendered = try await requests.render(definition, in: context)
        let isOther = try await takesNewKey(in: context) { () throws(StageFailure) in
            try digest(of: rendered, in: context)
        }
        return isOther ? try await requests.render(definition, in: context) : rendered
    }

    /// What is looked up needs no other key: nothing of what was refused is found.
    private func takesNewKey<Checkpoint>(
        in context: StageContext<Checkpoint>, toSend digest: () throws(StageFailure) -> String
    ) async throws(StageFailure) -> Bool {
        guard definition.once?.lookUp == nil else { return false }
        return try await context.takesNewKey(toSend: digest)
    }

    /// Sends a request whose values need what only its stage knows.
    func perform<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>, accept: Accept
    ) async throws(StageFailure) -> SubmitOutcome {
        let (digest, line) = (try digest(of: rendered, in: context), context.redact(rendered.line))
        var turn: ServiceTurn?
        return try await perform(
            digest: digest, line: line, in: context, accept: accept,
            ready: { () async throws(StageFailure) in turn = try await ready(rendered, in: context) }
        ) { key async throws(StageFailure) in
            var request = rendered
            if let key { request.decorators.insert(key, at: 0) }
            let result = await requests.send(request, in: context) { options in
                // libcurl repeats a request by itself when a kept connection turns out to be gone.
                options.freshConnection = true
                options.turn = turn
                options.onSent = { context.pass(.submitSent) }
            }
            turn = nil
            var cannotHaveArrived = false
            if case .failure(let failure) = result { cannotHaveArrived = failure.cannotHaveArrived }
            return Exchange(rendered: request, result: result, cannotHaveArrived: cannotHaveArrived)
        }
    }

    /// Waits until it can go out at once.
    private func ready<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> ServiceTurn? {
        let sending = RequestSending(requests: requests, rendered: rendered, context: context)
        let turn: ServiceTurn?
        do throws(ExchangeFailure) {
            turn = try await sending.ready()
        } catch {
            throw requests.failure(error, of: rendered, in: context)
        }
        try await sending.checkThatItMayOrder()
        return turn
    }

    /// Sends by an exchange of the caller's own, which is told the key's decorator.
    /// - Parameters:
    ///   - digest: of what is sent, as the ledger keeps it.
    ///   - line: the request in messages; nil for none.
    ///   - ready: waits until it may be sent.
    func perform<Checkpoint>(
        digest: String, line: String? = nil, in context: StageContext<Checkpoint>, accept: Accept,
        ready: () async throws(StageFailure) -> Void = {},
        exchange: (IdempotencyKey?) async throws(StageFailure) -> Exchange
    ) async throws(StageFailure) -> SubmitOutcome {
        _ = try await takesNewKey(in: context) { digest }
        var uncertain: StepFailure?
        let outcome: SubmitOutcome
        do throws(StageFailure) {
            outcome = try await context.submit(
                digest: digest,
                ready: ready,
                send: { record async throws(StageFailure) in
                    let response = try await send(record, in: context, accept: accept, exchange: exchange)
                    switch response {
                    case .incomplete(let failure, _), .uncertain(let failure, _): uncertain = failure
                    case .accepted, .refused, .notSent, .notAccepted: break
                    }
                    return response
                },
                reconcile: { record async throws(StageFailure) in
                    var reconciliation = SubmitReconciliation(
                        requests: requests, definition: definition, digest: digest)
                    reconciliation.subject = subject
                    reconciliation.isConflict = uncertain?.status == 409
                    if record.isAccepted { reconciliation.cause = "the service said that it has it" }
                    if let uncertain { reconciliation.cause = uncertain.title }
                    if let status = uncertain?.status, 300..<400 ~= status {
                        reconciliation.redirection = uncertain?.hint
                    }
                    return try await reconciliation.perform(record, in: context, accept: accept)
                })
        } catch {
            // Attempts that end without an answer end as the author wants.
            guard case .failed(var failed) = error, definition.onUnknown == .fail else { throw error }
            failed.openSubmit = nil
            throw .failed(failed)
        }
        guard case .unknown(let submit) = outcome, definition.onUnknown == .fail else { return outcome }
        var failure = Self.unknown(subject, submit.reason, requests, in: context)
        failure.request = line
        failure.hint = failure.hint.map {
            "\($0); with \"onUnknown\": \"ask\" in the document, 'pipeline retry \(context.facts.job) --changed' and then "
                + "'pipeline resolve \(context.facts.job)' take what you know"
        }
        throw .definite(failure)
    }

    /// The digest of what is sent. Whoever knows a request again by its key takes other bytes under it for the first:
    /// that is of the files then, as what else stands in it is a fact of the job.
    private func digest<Checkpoint>(
        of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> String {
        guard definition.once?.key != nil else { return context.digest(rendered.digestInput) }
        do throws(StepFailure) {
            let files = try rendered.fileDigests()
            if files.isEmpty { return context.digest(rendered.digestInput) }
            return SubmitRecord.filesMark + context.digest(files)
        } catch {
            throw .definite(error)
        }
    }

    /// That nobody can know whether the service has taken it, and what to do about it.
    static func unknown<Checkpoint>(
        _ subject: Subject, _ reason: String, _ requests: StageRequests, in context: StageContext<Checkpoint>
    ) -> StepFailure {
        let again = subject == .upload ? "sends the file again" : "sends it again"
        let others = context.facts.step.item == nil ? "" : ", and the other items of the stage too"
        return StepFailure(
            "it is unknown whether the \(subject.rawValue) was accepted: \(reason)",
            hint: "look at the service; '\(context.facts.restartCommand)' \(again)\(others)",
            service: requests.service?.name, place: context.facts.place)
    }

    private func send<Checkpoint>(
        _ record: SubmitRecord, in context: StageContext<Checkpoint>, accept: Accept,
        exchange: (IdempotencyKey?) async throws(StageFailure) -> Exchange
    ) async throws(StageFailure) -> SubmitResponse {
        if let deadline = context.facts.deadline, context.now >= deadline {
            return .notSent(AttemptFailure(Self.tooLate(context), kind: .definite))
        }
        let sent = try await exchange(try await definition.once?.key?.decorator(for: record, in: context))
        switch sent.result {
        case .success(let response):
            do throws(StageFailure) {
                return try await requests.judge(
                    response, toSubmit: sent.rendered, in: context, default: expected, accept: accept)
            } catch {
                // Whatever kept the response from being judged: it came, so the submit may have been accepted.
                guard case .failed(let failed) = error, failed.kind != .secret else { throw error }
                return .uncertain(failed.failure)
            }
        case .failure(let failure):
            let failed = requests.tryFailure(failure, of: sent.rendered, in: context)
            let isStopped = failure.reason == .cancelled || Task.isCancelled
            if sent.cannotHaveArrived {
                return .notSent(isStopped ? AttemptFailure(failed.failure, kind: .silent) : failed)
            }
            if isStopped { throw .stopped }
            return .uncertain(failed.failure)
        }
    }

    static func tooLate<Checkpoint>(_ context: StageContext<Checkpoint>) -> StepFailure {
        let length = context.facts.deadline.map { DurationText.describe($0 - context.facts.started) } ?? ""
        return StepFailure(
            "the stage did not end before its deadline, \(length) after its start",
            hint: "a longer \"deadline\" gives it more time", place: context.facts.place)
    }
}

/// A response that shows a submit to have been accepted.
struct SubmitReceipt: Sendable {
    let answer: ServiceResponse
    /// True when it is the submit's own; otherwise it came from looking for a lost one.
    let isDirect: Bool
    /// The wait that the service asks for.
    let retryAfter: Duration?
}
