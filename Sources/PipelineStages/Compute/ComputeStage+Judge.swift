import JSONPath
import PipelineCore
import PipelineHTTP

extension ComputeStage {
    /// Judges an answer to a poll: `missing`, `fail`, `failWhen`, `until`, then the lists, in this order.
    ///
    /// A rule that can't be put to the answer, for want of what only an ended job has, says nothing of a job that may
    /// run: that is a doubt to be told. Where all else says that the job has succeeded, the rule might have said
    /// otherwise, and its failure stands.
    func judge(
        _ response: HTTPExchangeResponse, _ poll: PollDefinition, _ rendered: RenderedRequest, in context: Context
    ) async throws(StageFailure) -> PollFinding {
        do throws(StageFailure) {
            return try await finding(of: response, poll, rendered, isTolerant: false, in: context)
        } catch {
            guard case .failed(let failed) = error, failed.kind == .definite else { throw error }
            switch try await finding(of: response, poll, rendered, isTolerant: true, in: context) {
            case .running(var report):
                report.doubts.append(.rule(failed.failure))
                return .running(report)
            case .succeeded: throw error
            case let other: return other
            }
        }
    }

    /// - Parameter isTolerant: true if a rule that can't be put to the answer says nothing.
    private func finding(
        of response: HTTPExchangeResponse, _ poll: PollDefinition, _ rendered: RenderedRequest, isTolerant: Bool,
        in context: Context
    ) async throws(StageFailure) -> PollFinding {
        var answer = requests.answer(of: response)
        let floor = response.retryAfter(now: context.now)
        let rules = PollRules(stage: self, poll: poll, rendered: rendered, context: context, isTolerant: isTolerant)
        if try await rules.findMissing(in: answer) {
            return .missing(missingFailure(answer, rendered, in: context))
        }
        // Nothing has changed since the response that the request names (RFC 9110, section 15.4.5).
        if answer.status == 304 { return .running(PollReport(after: floor)) }
        if let find = poll.find, (200...299).contains(answer.status) {
            guard let entry = try await find.entry(of: answer, in: context) else {
                return .running(absent(poll, answer, floor, in: context))
            }
            answer = entry
        }
        let verdict = try await requests.verdict(
            on: answer, of: rendered, in: context, isRepeated: true, isTolerant: isTolerant)
        switch verdict {
        case .ruledOut(var failure, let allowsRetry):
            if allowsRetry { return .failedPoll(detail: failure.title, floor: floor) }
            if try await rules.findEnd(in: answer) { return .ended(failure, answer) }
            if failure.hint == nil, try await requests.isExpected(answer, of: rendered, in: context) {
                failure.hint =
                    "'fail' speaks of the request, 'failWhen' and 'failed' of the job, which is asked for again"
            }
            return .refused(failure)
        case .unexpected(let failure):
            if let closing = response.closing { throw Self.held(failure, closing) }
            if await saysNothing(response, rendered, in: context) {
                return .failedPoll(detail: failure.title, floor: floor)
            }
            return try await rules.finding(on: answer, onlyByStatus: true) ?? .refused(failure)
        case .expected:
            return try await rules.finding(on: answer) ?? byLists(of: poll, answer, rendered, floor, in: context)
        }
    }

    /// The service is closed: no poll was answered, and the next is made when it opens.
    static func held(_ failure: StepFailure, _ wait: Duration) -> StageFailure {
        .failed(AttemptFailure(failure, kind: .held(.closed), retryAfter: wait))
    }

    /// A server in trouble says nothing about the job, whatever its page looks like; nor does a status that `retry` names,
    /// nor a refusal for which other credentials are there by now.
    func saysNothing(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, in context: Context
    ) async -> Bool {
        if StatusSet.trouble.contains(response.judgedStatus) || context.facts.retry.names(response) { return true }
        return await requests.hasNewCredentials(for: response.status, of: rendered, in: context)
    }

    func byLists(
        of poll: PollDefinition, _ answer: ServiceResponse, _ rendered: RenderedRequest, _ floor: Duration?,
        in context: Context
    ) -> PollFinding {
        var report = PollReport(poll, answer)
        report.floor = floor
        report.captures = carried.values(of: captures(of: poll), in: answer)
        report.doubts = PollDoubt.doubts(about: poll, answer, isLate: RunningTime(in: context).isLate) {
            ShownText.excerpt($0, limit: 120, in: context)
        }
        guard let selector = poll.status else { return .running(report) }
        let status = selector.lenientValue(in: answer)
        switch poll.lists.meaning(of: status) {
        case .running: return .running(report)
        case .succeeded: return .succeeded(answer)
        case .failed, .cancelled: return .ended(jobFailure(poll, status, answer, rendered, in: context), answer)
        case nil where poll.unknownStatus == .running: return .running(report)
        case nil:
            let shown = ShownText.excerpt(status.text, limit: 60, in: context)
            return .refused(
                requests.failure(
                    "\(requests.name(of: rendered.description.url)) gave the job the state \(shown), "
                        + "which is in none of the lists", answer, of: rendered,
                    hint: "add it to \"running\", \"succeeded\", \"failed\" or \"cancelled\"", in: context))
        }
    }

    /// The report of a list that has no entry of the job: it may come, or the condition is wrong.
    private func absent(
        _ poll: PollDefinition, _ answer: ServiceResponse, _ floor: Duration?, in context: Context
    ) -> PollReport {
        var report = PollReport()
        report.floor = floor
        report.message = "the job is not in the list yet"
        let start = ShownText.excerpt(answer.text, limit: 120, in: context)
        if (try? answer.json()) == nil {
            report.doubts = [PollDoubt(key: "no JSON", message: "the list is not JSON; it begins: \(start)")]
        } else if context.now >= context.facts.started + .seconds(60), let find = poll.find {
            report.doubts = [
                PollDoubt(
                    key: "absent",
                    message: "the list has no entry for which \(find.condition.text) holds; it is looked for on. "
                        + "The list begins: \(start)")
            ]
        }
        return report
    }

    /// The failure of the remote job itself.
    func jobFailure(
        _ poll: PollDefinition, _ status: JSON?, _ answer: ServiceResponse, _ rendered: RenderedRequest,
        in context: Context
    ) -> StepFailure {
        let name = requests.name(of: rendered.description.url)
        let isCancelled = status.map { poll.lists.meaning(of: $0) == .cancelled } ?? false
        let message =
            (poll.message?.lenientValue(in: answer)).flatMap(ErrorMessage.text)
            ?? ErrorMessage.find(in: answer, by: poll.request.error)
        let what = isCancelled ? "the job was cancelled at \(name)" : "the job failed at \(name)"
        return requests.failure(
            what + (message.map { ": \(ShownText.excerpt($0, in: context))" } ?? ""), answer, of: rendered, in: context)
    }

    private func missingFailure(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, in context: Context
    ) -> StepFailure {
        requests.failure(
            "\(requests.name(of: rendered.description.url)) does not know the job (status \(answer.status))", answer,
            of: rendered,
            hint: "it may have been deleted there, or kept for too short a time; or the URL of the poll is wrong",
            in: context)
    }
}
