/// The number of resumes that the background allows, and the delays beyond it: what a document's `background.budget`
/// means.
package struct ResumeBudget: Sendable, Hashable {
    /// So many resumes in ``window`` are not delayed; nil when none ever is.
    package let allowance: Int?
    /// The sliding window that the allowance counts in.
    package let window: Duration
    /// The first delay beyond the allowance.
    package let base: Duration
    /// By what the delay grows at each further resume.
    package let factor: Double
    /// The longest delay.
    package let maximum: Duration
    /// True if a transfer first started in the background waits for a good moment, whatever its stage says.
    package let makesTransfersDiscretionary: Bool

    package init(
        allowance: Int?, window: Duration, base: Duration, factor: Double, maximum: Duration,
        makesTransfersDiscretionary: Bool = false
    ) {
        self.allowance = allowance
        self.window = window
        self.base = base
        self.factor = max(1, factor)
        self.maximum = max(base, maximum)
        self.makesTransfersDiscretionary = makesTransfersDiscretionary
    }

    /// The budget with the values of a scope. A value that is wrong was refused when the job started; one that a plan
    /// without inputs does not know is the usual one.
    package init(_ definition: ResumeBudgetDefinition, in scope: Scope) {
        self =
            switch definition {
            case .unlimited: .unlimited
            case .ios: .ios
            case .limited(let limits): ResumeBudget(limits, in: scope)
            }
    }

    private init(_ limits: ResumeBudgetDefinition.Limits, in scope: Scope) {
        func value<Value>(_ setting: Setting<Value>, else usual: Setting<Value>) -> Value? {
            (try? setting.value(in: scope)) ?? usual.constant
        }
        let usual = ResumeBudgetDefinition.Limits.standard
        self.init(
            allowance: value(limits.resumes, else: usual.resumes),
            window: value(limits.window, else: usual.window) ?? .seconds(3600),
            base: value(limits.base, else: usual.base) ?? .zero,
            factor: value(limits.factor, else: usual.factor) ?? 1,
            maximum: value(limits.maximum, else: usual.maximum) ?? .zero)
    }

    /// Nothing is ever delayed; resumes are entered all the same.
    package static let unlimited = ResumeBudget(
        allowance: nil, window: .seconds(3600), base: .zero, factor: 1, maximum: .zero)

    /// As the limiter of a phone's background transfers works: no allowance, a minute that doubles up to a day (Apple
    /// Developer Forums, "Moving to Fewer, Larger Transfers").
    package static let ios = ResumeBudget(
        allowance: 0, window: .seconds(3600), base: .seconds(60), factor: 2, maximum: .seconds(86_400),
        makesTransfersDiscretionary: true)

    /// The budget that all pipelines of a machine share, those with an unlimited budget aside: ten times one
    /// pipeline's.
    package static let machine = ResumeBudget(
        allowance: 300, window: .seconds(3600), base: .seconds(60), factor: 2, maximum: .seconds(3600))

    /// The delay that follows a delay, when it has not fallen back.
    func delay(after last: Duration) -> Duration {
        guard last > .zero else { return base }
        // Whole milliseconds, as the journal keeps them.
        return min(maximum, .milliseconds(Int64(min(last.seconds * factor, maximum.seconds) * 1000)))
    }
}
