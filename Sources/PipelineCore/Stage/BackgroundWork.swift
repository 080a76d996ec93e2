/// The work that a stage leaves to the outside while it is called, and so how often the engine gets control back
/// because of it.
public enum BackgroundWork: Sendable, Hashable {
    /// Nothing: it belongs to the resume that began it.
    case local
    /// Transfers or other exchanges: the end of each call is a resume.
    case transfer
    /// A remote job: the answer to its submit is a resume, and each push or poll.
    case remoteJob(submits: Bool, isPushed: Bool)
    /// A wait: its end is a resume.
    case wait
}
