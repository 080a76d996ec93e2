import HTTPTypes
import JSONPath
import NetworkTasks
package import PipelineCore
import PipelineHTTP

/// A stage that submits to a ``ModelServer`` through the ledger, polls, and captures the model's value.
///
/// The smallest that keeps every promise of a compute: what a plug-in author would write.
package struct LedgerStage: Stage {
    /// The way in which a submit whose response is lost is reconciled.
    package enum Once: String, Sendable, Hashable, CaseIterable {
        case key, name, match, none
    }

    /// A mistake of a stage that is to be caught.
    package enum Flaw: Sendable, Hashable {
        /// Sends again blindly, without a key.
        case resendsBlindly
        /// Keeps what a server said as it came.
        case keepsSecrets
    }

    package struct Checkpoint: Codable, Sendable {
        var job: String?
    }

    let transport: any Transport
    let input: JSONTemplate
    let token: JSONTemplate?
    let once: Once
    let flaw: Flaw?

    package func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let scope = try await scope(context)
        let input = try await text(input, context)
        if scope.own["id"] == nil {
            switch try await submitted(input, scope, context) {
            case .submitted: break
            case .waiting(let time):
                return .waiting(checkpoint ?? Checkpoint(), until: .at(time), WaitReason(.settle))
            case .unknown(let submit): return .unknown(checkpoint, submit)
            }
        }
        return try await polled(checkpoint, context)
    }

    package func cancel(from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>) async throws(StageFailure) {
        let scope = try await scope(context)
        guard let id = scope.own["id"]?.string else { return }
        _ = try await exchange(request(.delete, "/jobs/\(id)", context))
    }

    private func submitted(
        _ input: String, _ scope: Scope, _ context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> SubmitOutcome {
        var body: JSONObject = ["input": .string(input), "tag": JSON(scope.ownKey)]
        if once == .name { body["name"] = JSON(scope.ownKey) }
        var bytes: [UInt8] = []
        JSON.object(body).write(into: &bytes)
        return try await context.submit(
            body: bytes,
            send: { record throws(StageFailure) in
                var request = try await request(.post, "/jobs", context)
                request.body = .bytes(bytes)
                if once == .key, let name = HTTPField.Name("Idempotency-Key") { request.headers[name] = record.key }
                let result = await exchange(request)
                context.pass(.submitSent)
                try stopIfCancelled()
                return judged(result, context)
            },
            reconcile: { record throws(StageFailure) in try await settled(record, context) })
    }

    private func judged(
        _ result: Result<HTTPExchangeResponse, ExchangeFailure>, _ context: StageContext<Checkpoint>
    ) -> SubmitResponse {
        switch result {
        case .failure(let failure):
            let failed = StepFailure(failure.message)
            return failure.connectionMade ? .uncertain(failed) : .notSent(AttemptFailure(failed, kind: .silent))
        case .success(let answer) where answer.isSuccess:
            let body = try? JSON.parse(answer.body)
            if let id = body?["id"]?.string { return .accepted(["id": .string(id)]) }
            let failed = failure("an answer without an id", answer, context)
            return body == nil ? .uncertain(failed) : .incomplete(failed)
        case .success(let answer):
            let failed = failure("the submit was refused", answer, context)
            switch answer.status {
            case 429, 503: return .notAccepted(AttemptFailure(failed, kind: .answered, retryAfter: retryAfter(answer)))
            case 409 where once == .name: return .refused(failed)
            case 408, 409, 425, 500...599: return .uncertain(failed)
            default: return .refused(failed)
            }
        }
    }

    private func settled(
        _ record: SubmitRecord, _ context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Reconciliation {
        switch once {
        case .key: return .resend
        case .none where flaw == .resendsBlindly: return .resend
        case .none: return .unsettled(reason: "the answer was lost")
        case .name, .match: break
        }
        let path = once == .name ? "/names/\(record.key)" : "/jobs"
        let result = await exchange(try await request(.get, path, context))
        try stopIfCancelled()
        guard case .success(let answer) = result, answer.status == 200 || answer.status == 404,
            let body = try? JSON.parse(answer.body)
        else { return .failed(AttemptFailure(StepFailure("the look-up failed"), kind: .silent)) }
        let candidates = once == .name ? [body] : body["items"]?.array ?? []
        if let id = candidates.first(where: { $0["tag"]?.string == record.key })?["id"]?.string {
            return .adopted(["id": .string(id)])
        }
        if record.misses == 0 { return .lookAgain(after: .seconds(10)) }
        return record.isAccepted ? .unsettled(reason: "the service said that it has it") : .resend
    }

    private func polled(
        _ checkpoint: Checkpoint?, _ context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint> {
        let scope = try await scope(context)
        guard let id = scope.own["id"]?.string else { throw .definite(StepFailure("no id was captured")) }
        let checkpoint = Checkpoint(job: id)
        let result = await exchange(try await request(.get, "/jobs/\(id)", context))
        try stopIfCancelled()
        // A tenth of the time that it has taken so far: a day costs some tens of polls.
        let age = (context.now - context.facts.started).seconds
        // Failures are redacted by the law too: what a wait is said to be for is the stage's own affair.
        let said = flaw == .keepsSecrets ? (try? result.get()).map { Self.start(of: $0) } : nil
        let again = StageOutcome<Checkpoint>.waiting(
            checkpoint, until: .at(context.now + .seconds(min(3600, max(5, age / 10)))),
            WaitReason(.poll, detail: said))
        guard case .success(let answer) = result, answer.status == 200, let body = try? JSON.parse(answer.body),
            let state = body["state"]?.string
        else { return again }
        context.pass(.pollAnswered)
        context.count(BytesMoved(received: answer.bytesReceived))
        try await context.commit(checkpoint, progressed: answer.bytesReceived > 0)
        switch state {
        case "done":
            guard let value = body["result"]?["value"] else { return again }
            return .finished(["value": value])
        case "error", "cancelled": throw .definite(failure("the service's job has failed", answer, context))
        default: return again
        }
    }

    private func scope(_ context: StageContext<Checkpoint>) async throws(StageFailure) -> Scope {
        try await context.evaluate { scope throws(EvaluationFailure) in scope }
    }

    private func text(
        _ template: JSONTemplate, _ context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> String {
        let value = try await context.evaluate { scope throws(EvaluationFailure) in try template.evaluate(in: scope) }
        return value.string ?? value.text
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> RequestDescription {
        var request = RequestDescription(method: method, url: "http://models\(path)")
        if let token { request.headers[.authorization] = "Bearer \(try await text(token, context))" }
        return request
    }

    private func exchange(_ request: RequestDescription) async -> Result<HTTPExchangeResponse, ExchangeFailure> {
        await transport.start(request, options: ExchangeOptions(freshConnection: request.method == .post)).result
    }

    private func failure(
        _ title: String, _ answer: HTTPExchangeResponse, _ context: StageContext<Checkpoint>
    ) -> StepFailure {
        StepFailure(title, status: answer.status, body: context.redact(Self.start(of: answer)))
    }

    private static func start(of answer: HTTPExchangeResponse) -> String {
        String(decoding: answer.body.prefix(200), as: UTF8.self)
    }

    private func retryAfter(_ answer: HTTPExchangeResponse) -> Duration? {
        answer.header("Retry-After").flatMap { Int($0) }.map { .seconds($0) }
    }

    private func stopIfCancelled() throws(StageFailure) { if Task.isCancelled { throw .stopped } }
}
