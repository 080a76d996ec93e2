import CSQLite
package import PipelineSQL

/// The values of a statement's parameters by their names, without the colon: `["job": 7, "stage": "upload"]`.
package typealias SQLiteValues = SQLNamedValues<any SQLiteValue>

/// One prepared statement of a connection. Parameters and columns are found by name; a name that the statement does not
/// have, and a parameter without a value, fail it with SQLITE_MISUSE.
package final class SQLiteStatement {
    let pointer: OpaquePointer
    unowned let connection: SQLiteConnection
    private let parameters: SQLiteNames
    private let columns: SQLiteNames
    /// The column after the one that was read last.
    private var nextColumn = 0
    /// A column that was read and is not there.
    private var missing: String?

    init(_ sql: String, on connection: SQLiteConnection) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let persistent = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, persistent, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw connection.error(code) }
        pointer = prepared
        self.connection = connection
        parameters = SQLiteNames(
            names: (0..<sqlite3_bind_parameter_count(prepared)).map { index in
                // With its colon, which no caller writes.
                sqlite3_bind_parameter_name(prepared, index + 1).map { String(cString: $0 + 1) } ?? "?"
            })
        columns = SQLiteNames(
            names: (0..<sqlite3_column_count(prepared)).map { index in
                sqlite3_column_name(prepared, index).map { String(cString: $0) } ?? ""
            })
    }

    deinit { sqlite3_finalize(pointer) }

    /// Runs the statement to its end, and returns how many rows it changed.
    func run(_ values: SQLiteValues) throws(SQLiteError) -> Int {
        try forEachRow(values) { (_) throws(SQLiteError) in true }
        return Int(sqlite3_changes(connection.handle))
    }

    /// Calls the body with each row until it returns false.
    func forEachRow<Failure: SQLiteFailure>(
        _ values: SQLiteValues, _ body: (SQLiteRow) throws(Failure) -> Bool
    ) throws(Failure) {
        do throws(SQLiteError) { try bind(values) } catch { throw Failure(error) }
        defer { reset() }
        while true {
            let code = sqlite3_step(pointer)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw Failure(connection.error(code)) }
            let goesOn = try body(SQLiteRow(statement: self))
            if let missing { throw Failure(misuse("no column \(missing)")) }
            if !goesOn { return }
        }
    }

    private func bind(_ values: SQLiteValues) throws(SQLiteError) {
        guard values.pairs.count == parameters.names.count else {
            throw misuse("\(parameters.names.count) parameters and \(values.pairs.count) values")
        }
        // An element of an array is copied to be asked, what a pointer leads to is asked where it lies.
        try values.pairs.withUnsafeBufferPointer { (pairs) throws(SQLiteError) in
            var next = 0
            for place in pairs.indices {
                guard let pair = pairs.baseAddress.map({ $0 + place }) else { return }
                guard let index = parameters.index(of: pair.pointee.0, from: next) else {
                    throw misuse("no parameter \(pair.pointee.0)")
                }
                next = index + 1
                let code = pair.pointee.1.bind(to: self, at: Int32(next))
                guard code == SQLITE_OK else {
                    defer { reset() }
                    throw connection.error(code)
                }
            }
        }
    }

    /// Makes the statement ready to run again; what was bound is let go, which may be large.
    private func reset() {
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
        missing = nil
    }

    /// The number of a column. One that is not there is told once the row has been read; meanwhile it reads as NULL.
    func column(_ name: String) -> Int32 {
        guard let index = columns.index(of: name, from: nextColumn) else {
            missing = name
            return -1
        }
        nextColumn = index + 1
        return Int32(index)
    }

    private func misuse(_ reason: String) -> SQLiteError {
        let sql = sqlite3_sql(pointer).map { String(cString: $0) } ?? ""
        return SQLiteError(code: SQLITE_MISUSE, message: "\(reason): \(sql)", file: connection.path)
    }
}

/// Names in the order in which they are mostly asked for.
private struct SQLiteNames {
    let names: [String]

    /// The place of a name, which is mostly the one after the last that was found.
    func index(of name: String, from place: Int) -> Int? {
        place < names.count && names[place] == name ? place : names.firstIndex(of: name)
    }
}
