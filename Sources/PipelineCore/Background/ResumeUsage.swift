package import JSONPath

/// The use of a budget at a moment: what `pipeline budget` shows.
package struct ResumeUsage: Sendable, Hashable {
    /// Nil for the machine's.
    package let pipeline: String?
    package let budget: ResumeBudget
    /// The number of resumes that count in the window.
    package let used: Int
    /// The delay that the next one would get.
    package let nextDelay: Duration
    /// The time when the delay in force falls back to zero; nil when none is.
    package let fallsBack: Timestamp?
    /// The time when the allowance has room again; nil when it has, or never will.
    package let replenishesAt: Timestamp?

    /// The form of `budget --json`. Durations are seconds.
    package var json: JSON {
        [
            "pipeline": JSON(pipeline), "resumes": budget.allowance.map { .number(JSONNumber($0)) } ?? "unlimited",
            "per": .number(JSONNumber(budget.window.seconds)), "used": .number(JSONNumber(used)),
            "delay": .number(JSONNumber(nextDelay.seconds)), "fallsBack": JSON(fallsBack?.description),
            "roomAgain": JSON(replenishesAt?.description),
        ]
    }
}
