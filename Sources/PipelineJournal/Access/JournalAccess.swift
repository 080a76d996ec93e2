import PipelineCore
import PipelineSQLite

/// Whoever reads or writes rows inside a transaction of the journal: statements whose failures are the journal's.
protocol JournalAccess {
    var connection: SQLiteConnection { get }
}

extension JournalAccess {
    /// Runs a statement, and returns how many rows it changed.
    @discardableResult
    func run(_ sql: StaticString, _ values: SQLiteValues = [:]) throws(JournalFailure) -> Int {
        do throws(SQLiteError) { return try connection.run(sql, values) } catch { throw JournalFailure(error) }
    }

    /// The first row, read; nil when there is none.
    func first<Value>(
        _ sql: StaticString, _ values: SQLiteValues, _ read: (SQLiteRow) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value? {
        var value: Value?
        try connection.forEachRow(of: sql, values) { (row) throws(JournalFailure) in
            value = try read(row)
            return false
        }
        return value
    }

    /// All rows, read.
    func all<Value>(
        _ sql: StaticString, _ values: SQLiteValues = [:], _ read: (SQLiteRow) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> [Value] {
        var found: [Value] = []
        try connection.forEachRow(of: sql, values) { (row) throws(JournalFailure) in
            found.append(try read(row))
            return true
        }
        return found
    }
}

/// The step that a row belongs to, in its columns `stage` and `item`.
extension StepKey {
    /// A step that is no item of a `forEach` has the item -1: NULLs would not be unique in a key.
    var itemColumn: Int { item ?? -1 }

    init(_ row: SQLiteRow) {
        let item = row.int("item")
        self.init(stage: row.text("stage"), item: item < 0 ? nil : item)
    }

    /// The step of a row that may belong to none.
    init?(optional row: SQLiteRow) {
        guard let stage = row.optionalText("stage") else { return nil }
        self.init(stage: stage, item: row.optionalInt("item"))
    }
}
