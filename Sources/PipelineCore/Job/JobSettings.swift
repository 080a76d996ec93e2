/// The settings for one owner's whole work on the job.
package struct JobSettings: Sendable {
    /// The answer to whether a person waits for the command that runs it.
    package var interactivity = Interactivity.attended
    /// True if background work is limited at all.
    package var hasLimiter = false
    /// True if notifications reach anybody.
    package var hasSinks = false
    /// The length that a wait must have for the job to be parked; nil when it never is.
    package var parking: Duration?

    package init() {}
}
