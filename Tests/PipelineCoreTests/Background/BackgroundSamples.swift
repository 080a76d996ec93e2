import PipelineCore

extension Timestamp {
    /// Seconds after some moment.
    static func at(_ seconds: Double) -> Timestamp {
        Timestamp(milliseconds: 1_790_000_000_000 + Int64((seconds * 1000).rounded()))
    }

    /// Seconds after that moment.
    var offset: Double { (self - .at(0)).seconds }
}

extension ResumeRequest {
    static func sample(
        _ budget: ResumeBudget, pipeline: String = "selfie", job: String = "j1", step: String = "model",
        reason: ResumeReason = .transferEnded, tolerance: Double = 0, mustBeginBy: Timestamp? = nil
    ) -> ResumeRequest {
        ResumeRequest(
            pipeline: pipeline, job: JobID(job), step: StepKey(stage: step), reason: reason, budget: budget,
            tolerance: .seconds(tolerance), mustBeginBy: mustBeginBy)
    }
}

extension ResumeBudget {
    /// Two resumes in a minute, then 2 s, doubling to 10 s.
    static let tight = ResumeBudget(
        allowance: 2, window: .seconds(60), base: .seconds(2), factor: 2, maximum: .seconds(10))
}
