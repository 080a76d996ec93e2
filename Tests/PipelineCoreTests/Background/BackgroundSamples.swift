import PipelineCore

/// Numbers that a seed fixes (SplitMix64).
struct TestRandomness {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func unit() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
    }

    /// A standard normal number, by the method of Box and Muller.
    mutating func normal() -> Double {
        let radius = (-2 * logarithm(max(unit(), 1e-12))).squareRoot()
        return radius * cosine(2 * .pi * unit())
    }
}

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
