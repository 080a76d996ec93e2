import JSONPath
import PipelineCore

extension ComputeStage {
    /// True if a callback is all that tells of the job's end: its result is taken out of it.
    var endsByCallback: Bool { polls.isEmpty && callback?.capture.isEmpty == false }

    /// Fails before anything is submitted whose result could never arrive.
    func checkCallback(in context: Context) async throws(StageFailure) {
        if try await isPushExpected(in: context) { return }
        throw .definite(
            StepFailure(
                "the result comes by a callback alone, and there is no public address for it",
                hint: "set PIPELINE_CALLBACK_URL to the address at which the service reaches 'pipeline daemon'",
                place: context.facts.place))
    }

    /// Ends with the values of a callback, or waits for one, until the deadline.
    func awaitCallback(_ checkpoint: ComputeCheckpoint, in context: Context) async throws(StageFailure) -> Outcome {
        if let values = await callback?.values(in: context) { return .finished(values) }
        try await PollDeadline(in: context).enforce(on: self)
        return .waiting(checkpoint, until: .callback(orAt: context.facts.deadline), WaitReason(.callback))
    }

    /// Makes the values of a callback captures of the stage, once, for polls that read them.
    func keepCallback(_ checkpoint: inout ComputeCheckpoint, in context: Context) async throws(StageFailure) {
        guard checkpoint.isCallbackKept != true, let values = await callback?.values(in: context) else { return }
        checkpoint.isCallbackKept = true
        try await context.commit(checkpoint, captures: values)
    }
}
