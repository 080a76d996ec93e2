package import JSONPath
package import PipelineCore

/// The result of an item, as a row.
package struct ResultRow {
    private let item: ItemRecord
    /// The names of the document's `batch.results`: a row has them all.
    private let names: [String]

    package init(_ item: ItemRecord, names: [String]) { (self.item, self.names) = (item, names) }

    /// The form of `results --json`; null stands for a result that the item has not.
    package var json: JSON {
        var row: JSONObject = [
            "item": .string(item.key), "state": .string(item.state.rawValue),
            "files": .array(item.files.map { .string($0) }), "cost": item.cost.map { .number(JSONNumber($0)) } ?? .null,
            "seconds": item.seconds.map { .number(JSONNumber($0)) } ?? .null,
            "error": item.failure?.failure.json ?? .null, "attempt": .number(JSONNumber(item.attempt)),
        ]
        for name in names { row[name] = item.results[name] ?? .null }
        // An item that was done under an earlier document.
        for member in item.results where row[member.name] == nil { row[member.name] = member.value }
        return .object(row)
    }

    /// The columns of CSV, before those of the document's results.
    package static let columns = BatchDefinition.fixedColumns

    /// The names of the `batch.results` of a job's document, in its order.
    package static func names(in record: JobRecord) -> [String] {
        let source = SourceText(name: record.sourceName, text: record.source)
        return JSONNode.read(source).node?.json["batch"]?["results"]?.object?.names ?? []
    }

    /// A line of CSV (RFC 4180); files are parted by line breaks.
    package var csv: String {
        var fields = [item.key, item.state.rawValue, item.files.joined(separator: "\n")]
        fields.append(item.cost.map { "\($0)" } ?? "")
        fields.append(item.seconds.map { "\($0)" } ?? "")
        fields.append(item.failure?.failure.title ?? "")
        for name in names {
            let value = item.results[name] ?? .null
            fields.append(value.isNull ? "" : value.string ?? value.text)
        }
        return Self.line(fields)
    }

    /// Fields with what CSV needs around them.
    package static func line(_ fields: [String]) -> String {
        fields.map { field in
            let isPlain = !field.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
            let doubled = field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            return isPlain ? field : "\"\(doubled)\""
        }.joined(separator: ",")
    }
}
