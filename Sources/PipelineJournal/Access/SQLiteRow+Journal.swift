import JSONPath
import PipelineCore
package import PipelineSQL
package import PipelineSQLite

/// The values of Core as they stand in columns: times in milliseconds since 1970, JSON as text.
extension Timestamp: SQLiteValue {
    package var parameter: SQLParameter { .integer(milliseconds) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        milliseconds.bind(to: statement, at: index)
    }
}

extension JSON: SQLiteValue {
    package var parameter: SQLParameter { .utf8(bytes) }

    package func bind(to statement: SQLiteStatement, at index: Int32) -> Int32 {
        statement.bindText(at: index) { write(into: &$0) }
    }
}

extension SQLRow {
    func time(_ name: String) -> Timestamp { Timestamp(milliseconds: integer(name)) }
    func optionalTime(_ name: String) -> Timestamp? { optionalInteger(name).map { Timestamp(milliseconds: $0) } }

    /// The JSON of a text column; null for NULL. Text that is not JSON means that the row is damaged.
    func json(_ name: String) throws(JournalFailure) -> JSON {
        let read = withUTF8(name) { bytes in Result { () throws(JSONSyntaxError) in try JSON.parseKept(bytes) } }
        switch read {
        case .success(let json): return json
        case .failure(let error): throw damaged("a column does not hold JSON: \(error.message)")
        case nil: return .null
        }
    }

    func object(_ name: String) throws(JournalFailure) -> JSONObject {
        guard let object = try json(name).object else { throw damaged("a column does not hold a JSON object") }
        return object
    }

    /// The failure of a row that can't be right.
    func damaged(_ reason: String) -> JournalFailure { .damaged(file: file, reason: reason) }
}
