import JSONPath
import PipelineCore
import PipelineHTTP

extension FieldType where Value == StatusSet {
    /// Statuses, each a number such as 200 or a class such as `"2xx"`.
    static var statuses: FieldType {
        let schema: JSON = [
            "type": "array", "minItems": 1,
            "items": [
                "anyOf": [
                    ["type": "integer", "minimum": 100, "maximum": 599], ["type": "string", "pattern": "^[1-5]xx$"],
                ]
            ],
        ]
        return FieldType(schema: schema) { place, findings in
            guard let ranges = FieldType<[ClosedRange<Int>]>.array(of: .statusRange, atLeast: 1).read(place, findings)
            else { return nil }
            return StatusSet(ranges)
        }
    }
}

extension FieldType where Value == ClosedRange<Int> {
    fileprivate static var statusRange: FieldType {
        FieldType(schema: [:]) { place, findings in
            switch place.node.content {
            case .number(let number):
                if let status = number.int, (100...599).contains(status) { return status...status }
            case .string(let text):
                let bytes = Array(text.utf8)
                if bytes.count == 3, (49...53).contains(bytes[0]), text.hasSuffix("xx") {
                    let first = Int(bytes[0] - 48) * 100
                    return first...(first + 99)
                }
            default: break
            }
            findings.report(
                place, "\(place.node.json.text) is no status",
                hint: "write a number such as 200, or a class such as \"2xx\"")
            return nil
        }
    }
}
