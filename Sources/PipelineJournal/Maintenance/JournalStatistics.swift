/// The work of a journal since it was opened: how many calls shared how many transactions.
package struct JournalStatistics: Sendable, Hashable {
    /// Calls that were written and committed.
    package var calls = 0
    /// Transactions that were committed, each with one sync of the disk.
    package var transactions = 0
    /// Calls of which nothing was kept.
    package var refused = 0
    /// The most calls that one transaction held.
    package var largestGroup = 0

    package init() {}
}
