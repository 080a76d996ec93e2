import JSONPath
import PipelineCore
import PipelineHTTP

/// The statuses of `expect`, some of which expressions may give.
struct ExpectedStatuses: Sendable {
    private let entries: [Setting<ClosedRange<Int>>]
    /// The statuses when no expression is needed for them.
    let constant: StatusSet?

    init(_ entries: [Setting<ClosedRange<Int>>]) {
        self.entries = entries
        let known = entries.compactMap(\.constant)
        constant = known.count == entries.count ? StatusSet(known) : nil
    }

    /// The statuses with the values of a scope.
    func values(in scope: Scope) throws(EvaluationFailure) -> StatusSet {
        if let constant { return constant }
        var ranges: [ClosedRange<Int>] = []
        for entry in entries { ranges.append(try entry.value(in: scope)) }
        return StatusSet(ranges)
    }
}

extension FieldType where Value == ExpectedStatuses {
    /// Statuses, each a number such as 200, a class such as `"2xx"`, or a template that gives one.
    static func statuses(_ roots: AllowedRoots) -> FieldType {
        FieldType<[Setting<ClosedRange<Int>>]>.array(of: .statusRange(roots), atLeast: 1).map { ExpectedStatuses($0) }
    }
}

extension FieldType where Value == Setting<ClosedRange<Int>> {
    fileprivate static func statusRange(_ roots: AllowedRoots) -> FieldType {
        let schema: JSON = [
            "anyOf": [
                ["type": "integer", "minimum": 100, "maximum": 599], ["type": "string", "pattern": "^[1-5]xx$"],
                .anyTemplate,
            ]
        ]
        return .setting(schema: schema, roots: roots) { json throws(ValueSyntaxError) in
            if let status = json.number?.int, (100...599).contains(status) { return status...status }
            if let bytes = json.string.map({ Array($0.utf8) }), bytes.count == 3, (49...53).contains(bytes[0]),
                bytes[1...] == [UInt8(ascii: "x"), UInt8(ascii: "x")]
            {
                let first = Int(bytes[0] - 48) * 100
                return first...(first + 99)
            }
            throw ValueSyntaxError(
                "\(json.text) is no status", hint: "write a number such as 200, or a class such as \"2xx\"")
        }
    }
}
