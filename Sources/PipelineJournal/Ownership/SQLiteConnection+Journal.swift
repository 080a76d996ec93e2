package import PipelineCore
import PipelineSQL
package import PipelineSQLite

extension SQLiteConnection: JournalConnection {
    package typealias Row = SQLiteRow
    package typealias OwnerRows = PipelineJournal.Owners

    package static var asidePending: String { "coalesce(batches.place ->> '$.aside.pending', 0)" }
    package static var changedJobs: StaticString {
        "SELECT changed, id FROM jobs WHERE changed > :after ORDER BY changed LIMIT :limit"
    }

    package func numberChange(of job: Int64) throws(JournalFailure) {
        _ = try change("UPDATE journal_changes SET last = last + 1", [:])
        _ = try change(
            "UPDATE jobs SET changed = (SELECT last FROM journal_changes) WHERE number = :job", ["job": job])
    }

    /// There is one writer at a time anyhow.
    package func serialize(_ name: String) {}

    package func run(
        _ sql: StaticString, _ values: SQLValues, expecting count: Int?, else failure: @escaping () -> JournalFailure
    ) throws(JournalFailure) {
        let changed = try change(sql, values)
        if let count, changed != count { throw failure() }
    }

    package func change(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int {
        do throws(SQLiteError) { return try run(sql, values) } catch { throw JournalFailure(error) }
    }

    package func readRows(
        of sql: StaticString, _ values: SQLValues, _ body: (SQLiteRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        try forEachRow(of: sql, values, body)
    }

    package func readRows(
        ofUnkept sql: String, _ values: SQLValues, _ body: (SQLiteRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        try forEachRow(ofUnkept: sql, values, body)
    }
}
