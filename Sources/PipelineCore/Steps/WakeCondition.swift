/// The event that ends a step's waiting.
public enum WakeCondition: Sendable, Hashable {
    /// A moment.
    case at(Timestamp)
    /// A push for this step; or, where a time is given, that moment if no push came before.
    case callback(orAt: Timestamp?)
    /// Nothing but a person or a new owner: the job was suspended with this step in the middle.
    case resume

    /// The moment at which waiting ends by itself; nil when it does not.
    package var time: Timestamp? {
        switch self {
        case .at(let time): time
        case .callback(let time): time
        case .resume: nil
        }
    }

    /// True if a push ends the waiting.
    package var endsWithCallback: Bool { if case .callback = self { true } else { false } }
}

/// The reason why a step waits. People and programs are shown it, and the law decides from its kind: what follows the
/// wait (another try or the same one), whether a new owner ends it, and what a clock that is set does to it.
public struct WaitReason: Sendable, Hashable {
    /// The kinds of reason, as `stage.waiting` events name them.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The remote job has not ended; the next poll is due at the wake time.
        case poll
        /// A try failed; the next one is due at the wake time.
        case retry
        /// The service asked not to be tried before the wake time (Retry-After).
        case refused = "retryAfter"
        /// The service takes nothing from anybody before the wake time.
        case closed
        /// The service has as many jobs of ours as the document lets it have.
        case full = "computations"
        /// The stage waits for a moment or a duration that its author gave.
        case time
        /// The stage waits for a push.
        case callback
        /// A look-up of a lost submit found nothing yet and is repeated.
        case settle
        /// The owner stopped in the middle of a try.
        case interrupted
        /// No answer came for as long as the retry policy allows; a resume tries again.
        case noAnswer
        /// Another stage runs again for fresh captures.
        case renewal
        /// A secret that the step needs can't be found.
        case secret
    }

    /// The kind of event that it waits for.
    public let kind: Kind
    /// One sentence of plain text, without secrets; nil when the kind says all.
    public let detail: String?
    /// True if what was asked last got no answer of use, as `detail` says: the person who waits is told of that.
    public let isTrouble: Bool
    /// The service's own word of the end; nil where it says nothing of it.
    public let foretold: ForetoldEnd?

    /// A reason to wait; `detail` is a few words that are shown after it.
    public init(_ kind: Kind, detail: String? = nil, isTrouble: Bool = false, foretold: ForetoldEnd? = nil) {
        self.kind = kind
        self.detail = detail
        self.isTrouble = isTrouble
        self.foretold = foretold
    }
}

/// The end of a remote job by its service's own word.
public struct ForetoldEnd: Sendable, Hashable, Codable {
    /// The time when it was said.
    public let said: Timestamp
    /// The time by which it is over.
    public let end: Timestamp

    /// The end as it was foretold at a time.
    public init(_ end: Timestamp, said: Timestamp) {
        self.end = end
        self.said = said
    }
}
