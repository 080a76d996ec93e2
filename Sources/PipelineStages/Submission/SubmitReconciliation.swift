import JSONPath
import PipelineCore
import PipelineHTTP

/// Finds out what became of a submit whose response is lost, as its `once` says.
struct SubmitReconciliation: Sendable {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// The digest of what would be sent now.
    let digest: String
    /// The reason why it isn't known.
    var cause = "the answer is lost"
    /// The words on where a redirect led: another send would be redirected too. Nil when none did.
    var redirection: String?
    /// True if the service answered that what is submitted is in conflict with what it has: a name that is taken.
    var isConflict = false
    var subject = GuardedSubmit.Subject.submit

    init(requests: StageRequests, definition: RequestDefinition, digest: String) {
        self.requests = requests.revealing(definition.capture)
        self.definition = definition
        self.digest = digest
    }

    func perform<Checkpoint>(
        _ record: SubmitRecord, in context: StageContext<Checkpoint>, accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> Reconciliation {
        guard let once = definition.once else {
            return unsettled("the request has no \"once\" to settle it by")
        }
        let isResendVain = redirection != nil
        if !isResendVain, try await context.value(of: once.resends) { return .resend }
        if !isResendVain, let key = once.key {
            let validity = try await context.value(of: key.validity)
            let age = context.now - (record.firstSent ?? context.now)
            let isChanged = record.isOfOtherFiles(than: digest)
            if age <= validity, !isChanged { return .resend }
            if age <= validity, once.lookUp == nil { return .failed(Self.changed(requests, in: context)) }
            if once.lookUp == nil {
                return unsettled(
                    "the key, sent \(DurationText.describe(age)) ago, was valid for "
                        + DurationText.describe(validity))
            }
        }
        // Redirected again after a look-up that found nothing, it is not sent a third time.
        let isLastLook = record.isAccepted || isResendVain && record.sends > 1
        let end = isLastLook ? unsettled("nothing of it was found") : nil
        let look = Look(record: record, pause: try await context.value(of: once.settle), end: end)
        switch once.lookUp {
        case .name(let request, let ours, let missing):
            return try await found(by: request, ours: ours, missing: missing, look, in: context, accept: accept)
        case .match(let list, let items, let condition, let then):
            return try await found(
                in: list, items: items, where: condition, then: then, look, in: context, accept: accept)
        case nil where isResendVain: return unsettled("would do so again")
        case nil: return unsettled("\"once\" has no way to settle it")
        }
    }

    private func unsettled(_ obstacle: String) -> Reconciliation {
        .unsettled(reason: reason(obstacle))
    }

    private func reason(_ obstacle: String) -> String {
        "\(cause), and \(obstacle)" + (redirection.map { "; \($0)" } ?? "")
    }

    /// That a key can't go out again, as the service would take what it got under it for the files as they are now.
    private static func changed<Checkpoint>(
        _ requests: StageRequests, in context: StageContext<Checkpoint>
    ) -> AttemptFailure {
        AttemptFailure(
            StepFailure(
                "a file that was submitted has changed since, and it is not known whether the submit was accepted",
                hint: "put it back as it was, then 'pipeline resume \(context.facts.job)'; or look at the service: "
                    + "'\(context.facts.restartCommand)' submits it as it is, under another key",
                service: requests.service?.name, place: context.facts.place),
            kind: .definite)
    }

    /// A look-up that finds nothing is believed at the second time.
    private struct Look {
        let record: SubmitRecord
        let pause: Duration
        /// The end when nothing is found and nothing is to be sent; nil when it may be sent again.
        let end: Reconciliation?

        var nothing: Reconciliation { end ?? (record.misses == 0 ? .lookAgain(after: pause) : .resend) }
    }

    // MARK: By name

    private func found<Checkpoint>(
        by request: RequestDefinition, ours: Expression, missing: Expression?, _ look: Look,
        in context: StageContext<Checkpoint>, accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> Reconciliation {
        let rendered = try await requests.render(request, in: context, role: StageRequests.look)
        let response: HTTPExchangeResponse
        switch await requests.send(rendered, in: context) {
        case .success(let answered): response = answered
        case .failure(let failure): return try unanswered(failure, rendered, in: context)
        }
        let answer = requests.answer(of: response)
        if try await isMissing(answer, rendered, by: missing, in: context) { return look.nothing }
        if let failed = try await refusal(response, rendered, in: context) { return failed }
        guard try await requests.holdsLeniently(ours, answer, of: rendered, in: context) else {
            if let unreadable = unreadable(answer, rendered, in: context) { return unreadable }
            // Of a send that the service refused for its name nothing is there; one without a response may be what was found.
            let isRefused = isConflict && look.record.sends == 1
            let mending =
                isRefused ? "" : "; if it is ours, mend 'ours': it is looked for again before anything is sent"
            let failure = requests.failure(
                "the name is taken: \(requests.name(of: rendered.description.url)) has something of another owner",
                answer, of: rendered, hint: "choose another name, for example with 'pipeline run --key'\(mending)",
                in: context)
            return isRefused ? .refused(failure) : .foreign(failure)
        }
        if let doubt = doubt(answer, rendered, look.record, in: context) { return doubt }
        return try await adopt(answer, rendered, in: context, accept: accept)
    }

    private func isMissing<Checkpoint>(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, by missing: Expression?,
        in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        guard let missing else { return answer.status == 404 }
        guard missing.mayFindMissing(in: answer) else { return false }
        return try await requests.holdsLeniently(missing, answer, of: rendered, in: context)
    }

    // MARK: In a list

    private func found<Checkpoint>(
        in list: RequestDefinition, items: PageItems, where condition: Expression, then: RequestDefinition?,
        _ look: Look, in context: StageContext<Checkpoint>, accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> Reconciliation {
        let search = ListSearch(requests: requests, list: list, items: items, condition: condition)
        let result: ListSearch.Result
        do throws(StageFailure) {
            result = try await search.perform(for: look.record, in: context)
        } catch {
            guard case .failed(let failed) = error else { throw error }
            return reconciliation(of: failed, in: context)
        }
        guard let item = result.matches.first else {
            if result.isWhole { return look.nothing }
            return unsettled("it is not on the first \(ListSearch.mostPages) pages of the list")
        }
        if let doubt = doubt(result.page.answer, result.page.rendered, look.record, in: context) { return doubt }
        guard result.matches.count == 1 else {
            return unsettled("\(result.matches.count) entries of the list match")
        }
        guard let then else {
            return try await adopt(
                ServiceResponse(status: result.page.answer.status, url: result.page.answer.url, body: item.bytes),
                result.page.rendered, in: context, accept: accept)
        }
        return try await fetched(then, item, in: context, accept: accept)
    }

    private func fetched<Checkpoint>(
        _ then: RequestDefinition, _ item: JSON, in context: StageContext<Checkpoint>,
        accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> Reconciliation {
        let rendered = try await requests.render(then, in: context, role: StageRequests.look) { scope in
            scope.item = item
            scope.itemIsOwn = false
        }
        switch await requests.send(rendered, in: context) {
        case .failure(let failure): return try unanswered(failure, rendered, in: context)
        case .success(let response):
            if let failed = try await refusal(response, rendered, in: context) { return failed }
            return try await adopt(requests.answer(of: response), rendered, in: context, accept: accept)
        }
    }

    // MARK: Outcomes

    /// The end of a look-up that found something which may be of an earlier generation: without `self.key` in the look-up
    /// the job of before fits it as well. Nil when it can only be this one.
    private func doubt<Checkpoint>(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, _ record: SubmitRecord,
        in context: StageContext<Checkpoint>
    ) -> Reconciliation? {
        guard record.generation > 1, definition.once?.lookUp?.readsOwnKey == false else { return nil }
        let former = "the \(subject == .upload ? "upload" : "job") of before"
        let remedy = "put ${{ self.key }}, which a retry changes, into the name or tag, and into the look-up"
        // Of several sends one that was lost may have won the name.
        guard isConflict, record.sends == 1 else {
            return unsettled("what was found may be \(former): \(remedy)")
        }
        return .refused(
            requests.failure("the name is still taken by \(former)", answer, of: rendered, hint: remedy, in: context))
    }

    private func adopt<Checkpoint>(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        accept: GuardedSubmit.Accept
    ) async throws(StageFailure) -> Reconciliation {
        switch try await accept(SubmitReceipt(answer: answer, isDirect: false, retryAfter: nil)) {
        case .success(let captures): return .adopted(captures)
        case .failure(let failure):
            let found = requests.failure(failure, answer, of: rendered, in: context)
            return .unsettled(
                reason: "it was found, but not what is needed of it: \(found.title); captures are read from what the "
                    + "look-up found, and of a list of selectors the first that matches counts")
        }
    }

    /// An answer that is no JSON shows nothing, not even that nothing is there: something between us and the service
    /// may have made it. Believed, it would send a second submit, or give up one that is ours. Nil when it is JSON.
    private func unreadable<Checkpoint>(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) -> Reconciliation? {
        guard (try? answer.json()) == nil else { return nil }
        let failure = requests.failure("the look-up was answered without JSON", answer, of: rendered, in: context)
        return .failed(AttemptFailure(failure, kind: .answered))
    }

    /// A look-up that was answered with an error; nil when it was not.
    private func refusal<Checkpoint>(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Reconciliation? {
        do throws(StageFailure) {
            _ = try await requests.judge(response, of: rendered, in: context)
            return nil
        } catch {
            guard case .failed(let failed) = error else { throw error }
            return reconciliation(of: failed, in: context)
        }
    }

    private func unanswered<Checkpoint>(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) throws(StageFailure) -> Reconciliation {
        guard case .failed(let failed) = requests.failure(failure, of: rendered, in: context) else { throw .stopped }
        return reconciliation(of: failed, in: context)
    }

    /// A look-up that can't work proves nothing about the submit: a person must tell. One that was refused with captures
    /// that are renewed is made again with fresh ones, where it looks for the same with them.
    private func reconciliation<Checkpoint>(
        of failed: AttemptFailure, in context: StageContext<Checkpoint>
    ) -> Reconciliation {
        guard failed.kind == .definite else { return .failed(failed) }
        let told = "the look-up failed: \(failed.failure.title)"
        guard let source = context.facts.freshness.source, [401, 403].contains(failed.failure.status),
            definition.once?.lookUp?.depends(on: source) == false
        else { return unsettled(told) }
        return .failed(AttemptFailure(failed.failure, kind: .answered))
    }
}
