import JSONPath
import PipelineCore
import PipelineHTTP

extension PollDefinition {
    /// Tells estimates and metrics when the job ended, where the service says so.
    func noteEnd(_ finding: PollFinding, of service: String, in context: ComputeStage.Context) {
        guard case .succeeded(let answer) = finding, let time = endTime(in: answer) else { return }
        context.ended(at: time)
        var measured = Measurements()
        measured.observe(.pollDelay, [service], max(0, (context.now - time).seconds))
        context.measure(measured)
    }
}

extension CaptureSet {
    /// The values of the answer with which a remote job ends.
    func lastValues(
        in answer: ServiceResponse, of rendered: RenderedRequest, by requests: StageRequests,
        in context: StageContext<ComputeCheckpoint>
    ) throws(StageFailure) -> JSONObject {
        do throws(StageFailure) {
            return try requests.captures(self, from: answer, of: rendered, in: context)
        } catch {
            throw error.doubting(answer)
        }
    }
}

extension StageFailure {
    /// The failure of a value that is captured at the end and missing: of a job that may have failed a hint to let it be missing
    /// would have it succeed.
    fileprivate func doubting(_ answer: ServiceResponse) -> StageFailure {
        guard case .failed(var failed) = self, case .object(let members)? = try? answer.json(),
            let name = ["error", "errors"].first(where: { members[$0].map { !$0.isNull && $0 != [] } ?? false })
        else { return self }
        failed.failure.hint =
            "the answer has an \"\(name)\": if that is how the job says that it failed, add to \"poll\": "
            + "\"failWhen\": \"response.body.\(name) != null\""
        return .failed(failed)
    }
}
