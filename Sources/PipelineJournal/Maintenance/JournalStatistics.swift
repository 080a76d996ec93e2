/// What a journal has done since it was opened: how many calls shared how many transactions.
public struct JournalStatistics: Sendable, Hashable {
    /// Calls that were written and committed.
    public var calls = 0
    /// Transactions that were committed, each with one sync of the disk.
    public var transactions = 0
    /// Calls of which nothing was kept.
    public var refused = 0
    /// The most calls that one transaction held.
    public var largestGroup = 0

    public init() {}
}
