/// The functions that an expression can call.
enum ExpressionFunction: String, Sendable, CaseIterable {
    case len, lower, upper, trim, replace, split, join, contains, startsWith, endsWith
    case urlencode, base64, hex, sha256
    case json, parse, number, string
    case basename, dirname, stem, `extension`
    case size, digest, text, jsonLines
    case now, uuid

    /// The names of the arguments as messages show them; their number is the arity.
    var parameters: [String] {
        switch self {
        case .len: ["text, array or object"]
        case .lower, .upper, .trim, .base64, .hex, .sha256, .parse: ["text"]
        case .urlencode: ["text or number"]
        case .number: ["text"]
        case .json, .string: ["value"]
        case .replace: ["text", "old", "new"]
        case .split: ["text", "separator"]
        case .join: ["array", "separator"]
        case .contains: ["text or array", "value"]
        case .startsWith, .endsWith: ["text", "part"]
        case .basename, .dirname, .stem, .extension, .size, .digest, .text, .jsonLines: ["path"]
        case .now, .uuid: []
        }
    }

    /// Whether its value comes from outside of the values that an expression sees.
    var asksOutside: Bool {
        switch self {
        case .size, .digest, .text, .jsonLines, .now, .uuid: true
        default: false
        }
    }

    /// How it is called: `replace(text, old, new)`.
    var signature: String { "\(rawValue)(\(parameters.joined(separator: ", ")))" }

    /// Other languages' names for the same.
    static let otherNames: [String: ExpressionFunction] = [
        "length": .len, "count": .len, "toLower": .lower, "lowercase": .lower, "toLowerCase": .lower,
        "toUpper": .upper, "uppercase": .upper, "toUpperCase": .upper, "strip": .trim, "includes": .contains,
        "encodeURIComponent": .urlencode, "urlEncode": .urlencode, "encode": .urlencode, "btoa": .base64,
        "base64encode": .base64, "toJSON": .json, "toJson": .json, "stringify": .json, "fromJSON": .parse,
        "fromJson": .parse, "int": .number, "float": .number, "str": .string, "filename": .basename,
        "folder": .dirname, "ext": .extension, "filesize": .size, "fileSize": .size, "readFile": .text,
        "read": .text, "lines": .jsonLines, "jsonl": .jsonLines, "guid": .uuid, "sha": .sha256,
        "starts_with": .startsWith, "ends_with": .endsWith, "hasPrefix": .startsWith, "hasSuffix": .endsWith,
    ]
}
