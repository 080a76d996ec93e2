import PipelineCore
import PipelineSQLite

extension SQLiteConnection: JournalConnection {
    typealias Row = SQLiteRow
    typealias OwnerRows = PipelineJournal.Owners

    static var keepsMeasurements: Bool { true }

    /// There is one writer at a time anyhow.
    func serialize(_ name: String) {}

    func run(
        _ sql: StaticString, _ values: SQLValues, expecting count: Int?, else failure: @escaping () -> JournalFailure
    ) throws(JournalFailure) {
        let changed = try change(sql, values)
        if let count, changed != count { throw failure() }
    }

    func change(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int {
        do throws(SQLiteError) { return try run(sql, values) } catch { throw JournalFailure(error) }
    }

    func readRows(
        of sql: StaticString, _ values: SQLValues, _ body: (SQLiteRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        try forEachRow(of: sql, values, body)
    }

    func readRows(
        ofUnkept sql: String, _ values: SQLValues, _ body: (SQLiteRow) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        try forEachRow(ofUnkept: sql, values, body)
    }
}
