package import JSONPath
package import PipelineCore

/// The result of an item, as a row.
package struct ResultRow {
    private let item: ItemRecord

    package init(_ item: ItemRecord) { self.item = item }

    /// The form of `results --json`.
    package var json: JSON {
        var row: JSONObject = [
            "item": .string(item.key), "state": .string(item.state.rawValue),
            "files": .array(item.files.map { .string($0) }), "cost": item.cost.map { .number(JSONNumber($0)) } ?? .null,
            "seconds": item.seconds.map { .number(JSONNumber($0)) } ?? .null,
            "error": item.failure?.failure.json ?? .null, "attempt": .number(JSONNumber(item.attempt)),
        ]
        for member in item.results where row[member.name] == nil { row[member.name] = member.value }
        return .object(row)
    }

    /// The columns of CSV, before those of the document's results.
    package static let columns = BatchDefinition.fixedColumns

    /// The columns of CSV after those: the document's results that items of the batch have, sorted.
    package static func names(
        of batch: JobID, in journal: any BatchJournal
    ) async throws(JournalFailure) -> [String] {
        var names: Set<String> = []
        var last = 0
        while true {
            let page = try await journal.items(of: batch, in: nil, after: last, limit: 1000)
            guard let end = page.last else { return names.sorted() }
            for item in page { names.formUnion(item.results.names) }
            last = end.number
        }
    }

    /// A line of CSV (RFC 4180); files are parted by line breaks.
    package func csv(results names: [String]) -> String {
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
