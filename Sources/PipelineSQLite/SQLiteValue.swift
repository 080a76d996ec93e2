import CSQLite
package import PipelineSQL

/// A value that a statement's parameter takes.
package protocol SQLiteValue {
    /// Binds the value to a parameter, counted from 1, and returns SQLite's result code. Called by a statement, once each
    /// time it runs.
    func bind(to statement: SQLiteStatement, at index: Int32) -> Int32
    /// The value as another database takes it.
    var parameter: SQLParameter { get }
}

extension Int64: SQLiteValue {
    package var parameter: SQLParameter { .integer(self) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement.pointer, index, self)
    }
}

extension Int: SQLiteValue {
    package var parameter: SQLParameter { .integer(Int64(self)) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        Int64(self).bind(to: statement, at: index)
    }
}

/// 1 or 0: SQLite has no type of its own for it.
extension Bool: SQLiteValue {
    package var parameter: SQLParameter { .integer(self ? 1 : 0) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        Int64(self ? 1 : 0).bind(to: statement, at: index)
    }
}

extension Double: SQLiteValue {
    package var parameter: SQLParameter { .real(self) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement.pointer, index, self)
    }
}

extension String: SQLiteValue {
    package var parameter: SQLParameter { .text(self) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        var text = self
        return text.withUTF8 { bytes in
            csqlite_bind_text(statement.pointer, index, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}

/// A blob; an empty one is not NULL.
extension [UInt8]: SQLiteValue {
    package var parameter: SQLParameter { .blob(self) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            csqlite_bind_blob(statement.pointer, index, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}

/// NULL for nil.
extension Optional: SQLiteValue where Wrapped: SQLiteValue {
    package var parameter: SQLParameter { self?.parameter ?? .null }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement.pointer, index)
    }
}

extension SQLiteStatement {
    /// Binds the text that the body writes, in UTF-8, into the connection's buffer, so that a value of another form needs
    /// no string of its own.
    package func bindText(at index: Int32, _ write: (inout [UInt8]) -> Void) -> Int32 {
        connection.scratch.removeAll(keepingCapacity: true)
        write(&connection.scratch)
        return connection.scratch.withUnsafeBytes { bytes in
            csqlite_bind_text(pointer, index, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}
