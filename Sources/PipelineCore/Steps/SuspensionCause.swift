/// The reason why an unfinished job has no owner.
public enum SuspensionCause: String, Sendable, Hashable, CaseIterable {
    /// SIGINT or SIGTERM reached its owner.
    case interrupted
    /// A person paused it.
    case paused
    /// No answer came for as long as the retry policy allows.
    case noNetwork
    /// Its owner is gone without a word: kill -9, a power cut. Computed, never written by an owner.
    case crashed
    /// A secret that it needs can't be found.
    case secret
    /// Its document names what the background owner does not know: a plugin, or a stage kind that another program
    /// registers.
    case `extension`
    /// More items of a batch failed than it tolerates.
    case tooManyFailures
    /// The items of a batch would cost more than it may spend.
    case spent
    /// The last items of a batch all failed alike.
    case sameFailure
}
