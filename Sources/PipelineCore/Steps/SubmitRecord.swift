import JSONPath

/// One entry of the submit ledger: what is known of a request that must not be sent twice.
///
/// The order of its phases is the promise: `intent` is on disk before a key is used, `sending` before the first byte
/// goes out, `submitted` together with the captures of the answer. An entry that a restart finds in `sending` is
/// settled as the document's `once` says, never by a blind second send.
public struct SubmitRecord: Sendable, Hashable {
    /// The progress of a submit.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The key is made; nothing can have been sent under it since the last definite answer.
        case intent
        /// A byte may have gone out, and no answer is known.
        case sending
        /// The answer is known and kept.
        case submitted
        /// The service refused it for good.
        case refused
        /// It was looked for and could not be reconciled; a person must. Also while one is looked for that the service said
        /// to have.
        case unknown
    }

    /// The idempotency key: the same for all sends of one generation.
    public var key: String
    /// Grows when the work is to be done again, and when another request goes out than the one that was refused.
    public var generation: Int
    /// A keyed hash of the files that are sent, or where there are none of the request, to notice that it changed; hex, the
    /// former after `files:`.
    public var digest: String
    /// The progress of the submit.
    public var phase: Phase
    /// The number of times that it was sent.
    public var sends: Int
    /// The time when the first byte of this generation may have gone out.
    public var firstSent: Timestamp?
    /// The time when it was sent last.
    public var lastSent: Timestamp?
    /// The number of times that a look-up found nothing in a row.
    package var misses: Int

    /// A submit that was not sent yet; `digest` is that of its body, by which a changed one is noticed.
    public init(key: String, generation: Int, digest: String, phase: Phase = .intent) {
        self.key = key
        self.generation = generation
        self.digest = digest
        self.phase = phase
        sends = 0
        misses = 0
    }

    /// The text that the digest of files begins with. Entries without it tell nothing of files.
    package static let filesMark = "files:"

    /// True unless it only counts the generations of the key: something of it may be at the service, or was refused there.
    package var isBegun: Bool { phase != .intent || sends > 0 }

    /// True if it went out and nobody knows whether the service took it.
    package var isOpen: Bool { phase == .sending || phase == .unknown }

    /// True if the service said that it has it, and a look-up that found nothing did not know of it yet: it is sent no more.
    package var isAccepted: Bool { phase == .unknown && misses > 0 }

    /// True if nothing that the document says of it tells whether the service took it.
    var wasLookedForInVain: Bool { phase == .unknown && !isAccepted }

    /// True for an intent under whose key something was sent before: no such request was taken.
    var wasRefused: Bool { phase == .intent && lastSent != nil }

    /// Returns whether other files were sent under the key than those of a digest. A body may differ for good reasons, as
    /// with another secret in it; its files have none.
    package func isOfOtherFiles(than digest: String) -> Bool {
        [self.digest, digest].allSatisfy { $0.hasPrefix(Self.filesMark) } && self.digest != digest
    }

    /// The entry of a new submit in place of this one: another key, nothing sent.
    package func nextGeneration(of name: SubmitName) -> SubmitRecord {
        SubmitRecord(of: name, generation: generation + 1, digest: digest)
    }

    /// A submit that was not sent yet, under the key of its generation.
    package init(of name: SubmitName, generation: Int = 1, digest: String = "") {
        self.init(key: name.key(ofGeneration: generation), generation: generation, digest: digest)
    }
}
