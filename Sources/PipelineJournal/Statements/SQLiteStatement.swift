import GRDBSQLite
import JSONPath
import PipelineCore

/// One prepared statement of a connection, bound, stepped and read without detours: the hot path of every commit.
///
/// Belongs to the thread that holds its connection. Parameters count from 1 and columns from 0, as SQLite does.
final class SQLiteStatement {
    private let pointer: OpaquePointer
    private unowned let connection: SQLiteConnection
    /// Texts and blobs are copied by SQLite when they are bound: the caller's bytes need not stay.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ sql: String, on connection: SQLiteConnection) throws(JournalFailure) {
        var prepared: OpaquePointer?
        let persistent = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, persistent, &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw connection.failure(code) }
        pointer = prepared
        self.connection = connection
    }

    /// Frees the statement; it is not used after.
    func finalize() { sqlite3_finalize(pointer) }

    /// Runs a statement that gives no rows, and says how many rows it changed.
    @discardableResult
    func run() throws(JournalFailure) -> Int {
        let code = sqlite3_step(pointer)
        sqlite3_reset(pointer)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw connection.failure(code) }
        return Int(sqlite3_changes(connection.handle))
    }

    /// Goes to the next row; false, and ready to run again, after the last.
    func step() throws(JournalFailure) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return false
        case let code:
            sqlite3_reset(pointer)
            throw connection.failure(code)
        }
    }

    /// Ends a reading before its last row.
    func reset() { sqlite3_reset(pointer) }
}

extension SQLiteStatement {
    func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in bindText(index, UnsafeRawBufferPointer(bytes)) }
    }

    func bind(_ index: Int32, _ text: String?) {
        guard let text else { return bindNull(index) }
        bind(index, text)
    }

    func bind(_ index: Int32, _ number: Int64) { sqlite3_bind_int64(pointer, index, number) }
    func bind(_ index: Int32, _ number: Int) { sqlite3_bind_int64(pointer, index, Int64(number)) }
    func bind(_ index: Int32, _ flag: Bool) { sqlite3_bind_int64(pointer, index, flag ? 1 : 0) }

    func bind(_ index: Int32, _ number: Double?) {
        if let number { sqlite3_bind_double(pointer, index, number) } else { bindNull(index) }
    }

    func bind(_ index: Int32, _ number: Int?) {
        guard let number else { return bindNull(index) }
        bind(index, number)
    }

    func bind(_ index: Int32, _ time: Timestamp?) {
        guard let time else { return bindNull(index) }
        bind(index, time.milliseconds)
    }

    func bind(_ index: Int32, blob: [UInt8]?) {
        guard let blob else { return bindNull(index) }
        blob.withUnsafeBytes { bytes in
            // A null pointer would bind NULL: an empty checkpoint is not an absent one.
            if let start = bytes.baseAddress, !bytes.isEmpty {
                _ = sqlite3_bind_blob64(pointer, index, start, UInt64(bytes.count), Self.copied)
            } else {
                _ = sqlite3_bind_zeroblob(pointer, index, 0)
            }
        }
    }

    func bindNull(_ index: Int32) { sqlite3_bind_null(pointer, index) }

    func bind(_ index: Int32, json: JSON) {
        connection.scratch.removeAll(keepingCapacity: true)
        json.write(into: &connection.scratch)
        connection.scratch.withUnsafeBytes { bytes in bindText(index, bytes) }
    }

    private func bindText(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        // A null pointer would bind NULL: an empty text is not an absent one.
        guard let start = bytes.baseAddress else {
            sqlite3_bind_text(pointer, index, "", 0, nil)
            return
        }
        let characters = start.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text64(pointer, index, characters, UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
    }
}

extension SQLiteStatement {
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }
    func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : double(column) }
    func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : int(column) }
    func time(_ column: Int32) -> Timestamp? { isNull(column) ? nil : Timestamp(milliseconds: integer(column)) }

    func text(_ column: Int32) -> String { String(decoding: textBytes(column), as: UTF8.self) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func blob(_ column: Int32) -> [UInt8]? {
        if isNull(column) { return nil }
        let start = sqlite3_column_blob(pointer, column)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    /// The JSON of a text column; null for NULL. Text that is not JSON means that the row is damaged.
    func json(_ column: Int32) throws(JournalFailure) -> JSON {
        if isNull(column) { return .null }
        do {
            return try JSON.parse(textBytes(column))
        } catch {
            throw connection.damaged("a column does not hold JSON: \(error.message)")
        }
    }

    func object(_ column: Int32) throws(JournalFailure) -> JSONObject {
        guard let object = try json(column).object else {
            throw connection.damaged("a column does not hold a JSON object")
        }
        return object
    }

    /// The row's bytes: valid until the statement moves.
    private func textBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(pointer, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }
}
