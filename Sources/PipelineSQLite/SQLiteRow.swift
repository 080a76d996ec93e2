import CSQLite
import PipelineSQL

/// The row that a statement stands at, read by the names of its columns (`AS` gives an expression one).
///
/// It is valid until the statement goes on. Types are converted as SQLite does (sqlite.org/c3ref/column_blob.html): NULL
/// reads as zero or as the empty text.
package struct SQLiteRow: SQLRow {
    let statement: SQLiteStatement

    /// The database's file, for what is told of a row that can't be right.
    package var file: String { statement.connection.path }

    package func isNull(_ name: String) -> Bool { isNull(statement.column(name)) }

    package func integer(_ name: String) -> Int64 { sqlite3_column_int64(statement.pointer, statement.column(name)) }
    package func double(_ name: String) -> Double { sqlite3_column_double(statement.pointer, statement.column(name)) }

    package func optionalInteger(_ name: String) -> Int64? {
        let column = statement.column(name)
        return isNull(column) ? nil : sqlite3_column_int64(statement.pointer, column)
    }

    package func optionalDouble(_ name: String) -> Double? {
        let column = statement.column(name)
        return isNull(column) ? nil : sqlite3_column_double(statement.pointer, column)
    }

    package func text(_ name: String) -> String { String(decoding: utf8(statement.column(name)), as: UTF8.self) }
    package func optionalText(_ name: String) -> String? { text(statement.column(name)) }

    package func optionalBlob(_ name: String) -> [UInt8]? {
        let column = statement.column(name)
        if isNull(column) { return nil }
        let start = sqlite3_column_blob(statement.pointer, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.pointer, column))))
    }

    /// Calls the body with the text's bytes in UTF-8, which are valid inside it; nil, and it is not called, for NULL.
    package func withUTF8<Value, Failure: Error>(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let column = statement.column(name)
        return isNull(column) ? nil : try body(utf8(column))
    }

    /// The text of the first column.
    var firstText: String? { text(Int32(0)) }

    private func text(_ column: Int32) -> String? {
        isNull(column) ? nil : String(decoding: utf8(column), as: UTF8.self)
    }

    private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement.pointer, column) == SQLITE_NULL }

    private func utf8(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(statement.pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.pointer, column)))
    }
}
