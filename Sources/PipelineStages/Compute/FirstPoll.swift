import JSONPath
import PipelineCore
import PipelineHTTP

/// The answer to a submit as the first poll: one that says that the job has ended is judged as a poll's own would be.
struct FirstPoll {
    typealias Context = ComputeStage.Context

    let stage: ComputeStage
    let answer: ServiceResponse

    /// Returns the job's captures when the answer says that it has succeeded; nil when it has to be asked.
    func captures(in context: Context) async throws(StageFailure) -> JSONObject? {
        guard let submit = stage.submit else { return nil }
        for definition in stage.polls where definition.find == nil && definition.events == nil {
            let poll = try await definition.settled(in: context).withoutStatusAlone
            let rendered = RenderedRequest(sent: submit.method, to: answer.url, judgedBy: poll.request)
            let rules = PollRules(stage: stage, poll: poll, rendered: rendered, context: context)
            guard try await rules.findEnd(in: answer) else { continue }
            switch try await finding(by: rules) {
            case .succeeded(let answer):
                context.noteServed()
                return try stage.requests.captures(stage.captures(of: poll), from: answer, of: rendered, in: context)
            case .ended(let failure, let answer):
                context.conclude(with: answer)
                throw .remoteJobEnded(failure)
            case .running, .failedPoll, .missing, .refused, nil: continue
            }
        }
        return nil
    }

    /// Judges in the order of a poll: what rules the answer out, or calls the job failed, comes before what ends it well.
    /// Nil when the rules can't be put to it: the poll's own answer will have what they read.
    private func finding(by rules: PollRules) async throws(StageFailure) -> PollFinding? {
        do throws(StageFailure) {
            switch try await stage.requests.verdict(on: answer, of: rules.rendered, in: rules.context) {
            case .ruledOut(let failure, let allowsRetry):
                return allowsRetry ? .failedPoll(detail: failure.title, floor: nil) : .ended(failure, answer)
            case .unexpected: return nil
            case .expected:
                return try await rules.finding(on: answer)
                    ?? stage.byLists(of: rules.poll, answer, rules.rendered, nil, in: rules.context)
            }
        } catch {
            guard case .failed = error else { throw error }
            return nil
        }
    }
}
