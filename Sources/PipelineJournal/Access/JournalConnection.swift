package import PipelineCore
package import PipelineSQL
package import PipelineSQLite

/// The values of a statement's parameters by their names, without the colon.
package typealias SQLValues = SQLiteValues

/// A connection to a database that has the journal's tables. Statements are written once, in the SQL that SQLite and
/// PostgreSQL share, for all databases; what differs stands in the connections and in who owns jobs.
package protocol JournalConnection: AnyObject, SendableMetatype {
    associatedtype Row: SQLRow
    associatedtype OwnerRows: JournalOwners where OwnerRows.Connection == Self

    /// Selects the id of each job that changed after `:after`, with the number of its last change as `changed`, in the
    /// order of these numbers; at least `:limit` if there are so many, and all that share the last number.
    static var changedJobs: StaticString { get }
    /// The number of a batch's items that were to begin before its reading and that no row of it names, as an expression on
    /// the row in `batches`.
    static var asidePending: String { get }
    /// Gives the job the number of a change, the next of all in the journal, where events have none of their own.
    func numberChange(of job: Int64) throws(JournalFailure)
    /// Keeps other writers that name the same out until the transaction has ended.
    func serialize(_ name: String) throws(JournalFailure)
    /// Runs a statement inside the transaction, before its commit at the latest. The failure is thrown, here or by the
    /// commit, when it does not change just so many rows.
    func run(
        _ sql: StaticString, _ values: SQLValues, expecting count: Int?, else failure: @escaping () -> JournalFailure
    ) throws(JournalFailure)
    /// Runs a statement at once, and returns how many rows it inserted, changed or deleted.
    func change(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int
    /// Runs a statement and calls the body with each row until it returns false.
    func readRows(
        of sql: StaticString, _ values: SQLValues, _ body: (Row) throws(JournalFailure) -> Bool
    ) throws(JournalFailure)
    /// Returns the same for a statement that was put together at run time and is not kept.
    func readRows(
        ofUnkept sql: String, _ values: SQLValues, _ body: (Row) throws(JournalFailure) -> Bool
    ) throws(JournalFailure)
}

/// The owners of jobs, as the rows know them, and how it is told whether they live.
package protocol JournalOwners: Sendable {
    associatedtype Connection: JournalConnection

    /// Returns whether the owner of a row's columns `boot` and `lease_until` keeps its jobs.
    func isLiving(_ owner: OwnerID, boot: String, until: Int64) -> Bool
    /// Writes the owner's lease again.
    func renew(_ owner: OwnerID, on connection: Connection) throws(JournalFailure)
    /// Returns whether an owner that seemed dead is, and keeps it from coming back until the transaction has ended.
    func isGone(_ owner: OwnerID, on connection: Connection) throws(JournalFailure) -> Bool
    /// The number of the row of the lease's job, which nobody else changes until the transaction has ended; `.stale`,
    /// here or by the commit, when the lease is not the last one.
    func number(under lease: Lease, on connection: Connection) throws(JournalFailure) -> Int64
    /// Adds what a database has besides to a job that was just written.
    func complete(_ job: JobRecord, _ number: Int64, on connection: Connection) throws(JournalFailure)
}
