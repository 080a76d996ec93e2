import Assertions
import PipelineSQL

/// All rows that a statement gave.
package final class PostgresResult {
    private let library: PostgresLibrary
    private let pointer: OpaquePointer
    private let columns: [String]
    private let types: [UInt32]
    let database: String
    package let count: Int
    /// The number of rows that were inserted, changed, deleted or given.
    package let changes: Int
    private var next = 0

    /// Takes the result over.
    init(_ pointer: OpaquePointer, _ library: PostgresLibrary, database: String) {
        self.pointer = pointer
        self.library = library
        self.database = database
        count = Int(library.tuples(pointer))
        changes = library.commandTuples(pointer).flatMap { Int(String(cString: $0)) } ?? 0
        let fields = library.fields(pointer)
        columns = (0..<fields).map { library.fieldName(pointer, $0).map { String(cString: $0) } ?? "" }
        types = (0..<fields).map { library.fieldType(pointer, $0) }
    }

    deinit { library.clear(pointer) }

    package func row(_ index: Int) -> PostgresRow { PostgresRow(result: self, index: Int32(index)) }

    /// Mostly columns are read in their order. One that the statement does not give reads as NULL.
    func column(_ name: String) -> Int32 {
        if next >= columns.count || columns[next] != name {
            guard let found = columns.firstIndex(of: name) else {
                Assertions.fail("a statement gives no column '\(name)'")
                return -1
            }
            next = found
        }
        defer { next += 1 }
        return Int32(next)
    }

    func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
        guard column >= 0, library.isNull(pointer, row, column) == 0, let start = library.value(pointer, row, column)
        else {
            return nil
        }
        return UnsafeRawBufferPointer(start: start, count: Int(library.length(pointer, row, column)))
    }

    func type(_ column: Int32) -> UInt32 { column < 0 ? 0 : types[Int(column)] }
}

/// One row of a result, in the binary forms of the server's types.
package struct PostgresRow: SQLRow {
    let result: PostgresResult
    let index: Int32

    package var file: String { result.database }

    package func isNull(_ name: String) -> Bool { result.bytes(index, result.column(name)) == nil }
    package func integer(_ name: String) -> Int64 { optionalInteger(name) ?? 0 }
    package func double(_ name: String) -> Double { optionalDouble(name) ?? 0 }

    /// Of int2, int4, int8 and bool.
    package func optionalInteger(_ name: String) -> Int64? {
        result.bytes(index, result.column(name)).map(Self.integer)
    }

    private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        switch bytes.count {
        case 1: Int64(bytes[0])
        case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        default: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        }
    }

    /// Of float8, and of whole numbers as SQLite gives them.
    package func optionalDouble(_ name: String) -> Double? {
        let column = result.column(name)
        guard let bytes = result.bytes(index, column) else { return nil }
        // The types' numbers in pg_type.dat.
        switch result.type(column) {
        case 701: return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        case 16, 20, 21, 23: return Double(Self.integer(bytes))
        default: return nil
        }
    }

    package func text(_ name: String) -> String { optionalText(name) ?? "" }

    package func optionalText(_ name: String) -> String? {
        result.bytes(index, result.column(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    package func optionalBlob(_ name: String) -> [UInt8]? {
        result.bytes(index, result.column(name)).map { Array($0) }
    }

    package func withUTF8<Value, Failure: Error>(
        _ name: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        guard let bytes = result.bytes(index, result.column(name)) else { return nil }
        return try body(bytes)
    }
}
