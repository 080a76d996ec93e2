package import PipelineCore

/// One empty journal as several processes see it. The author of a journal makes this of it, to have it tried by
/// ``JournalConformance``.
package protocol JournalWorld: Sendable {
    /// The journal as a further process opens it.
    func open() throws -> any Journal
    /// The process that owns jobs by that name, through that journal, is killed.
    func kill(_ owner: OwnerID, _ journal: any Journal) async
    /// The owner is stopped for longer than a lease.
    func stop(_ owner: OwnerID) async
    /// Nothing is left of it.
    func remove()
}
