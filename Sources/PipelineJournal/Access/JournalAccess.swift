import PipelineCore
import PipelineSQL

/// Whoever reads or writes rows inside a transaction of the journal: statements whose failures are the journal's.
protocol JournalAccess<Connection> {
    associatedtype Connection: JournalConnection
    typealias Row = Connection.Row
    var connection: Connection { get }
}

extension JournalAccess {
    /// Runs a statement, before the commit at the latest.
    func run(_ sql: StaticString, _ values: SQLValues = [:]) throws(JournalFailure) {
        try connection.run(sql, values, expecting: nil) { .other("") }
    }

    /// Runs a statement, before the commit at the latest; nothing is committed when it does not change one row.
    func changeOne(
        _ sql: StaticString, _ values: SQLValues, else failure: @autoclosure @escaping () -> JournalFailure
    ) throws(JournalFailure) {
        try connection.run(sql, values, expecting: 1, else: failure)
    }

    /// Runs a statement at once, and returns how many rows it changed.
    func change(_ sql: StaticString, _ values: SQLValues) throws(JournalFailure) -> Int {
        try connection.change(sql, values)
    }

    /// The first row, read; nil when there is none.
    func first<Value>(
        _ sql: StaticString, _ values: SQLValues, _ read: (Row) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value? {
        var value: Value?
        try connection.readRows(of: sql, values) { (row) throws(JournalFailure) in
            value = try read(row)
            return false
        }
        return value
    }

    /// All rows, read.
    func all<Value>(
        _ sql: StaticString, _ values: SQLValues = [:], _ read: (Row) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> [Value] {
        var found: [Value] = []
        try connection.readRows(of: sql, values) { (row) throws(JournalFailure) in
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

    init(_ row: some SQLRow) {
        let item = row.int("item")
        self.init(stage: row.text("stage"), item: item < 0 ? nil : item)
    }

    /// The step of a row that may belong to none.
    init?(optional row: some SQLRow) {
        guard let stage = row.optionalText("stage") else { return nil }
        self.init(stage: stage, item: row.optionalInt("item"))
    }
}
