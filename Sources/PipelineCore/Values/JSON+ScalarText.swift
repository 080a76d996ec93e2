import JSONPath

extension JSON {
    /// The text that stands for a string, number or boolean inside other text; nil for null, arrays and objects.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}
