public import PipelineCore

/// One empty journal as several processes see it. The author of a journal makes this of it, to have it tried by
/// ``JournalConformance``.
///
/// A promise is tried in a world of its own, by one task, with calls one after the other.
public protocol JournalWorld: Sendable {
    /// Returns the journal as a further process opens it; what one process commits, all others see.
    func open() throws -> any Journal
    /// Has the process be killed that owns jobs by that name, through that journal: it says nothing to anybody, its streams of
    /// requests end, and when this returns others may take its jobs.
    func kill(_ owner: OwnerID, _ journal: any Journal) async
    /// Has the owner be stopped for longer than a journal believes it to live, and go on after: nothing is waited for, a clock
    /// of the world's own is moved.
    func stop(_ owner: OwnerID) async
    /// Removes all that is left of it.
    func remove()
}
