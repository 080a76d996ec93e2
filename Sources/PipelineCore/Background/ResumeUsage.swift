package import JSONPath

/// How a budget stands at a moment: what `pipeline budget` shows.
package struct ResumeUsage: Sendable, Hashable {
    /// Nil for the machine's.
    package let pipeline: String?
    package let budget: ResumeBudget
    /// How many resumes count in the window.
    package let used: Int
    /// The delay that the next one would get.
    package let nextDelay: Duration
    /// When the delay in force falls back to zero; nil when none is.
    package let fallsBack: Timestamp?
    /// When the allowance has room again; nil when it has, or never will.
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
