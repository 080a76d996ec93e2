/// The functions that an expression can call.
enum ExpressionFunction: String, Sendable, CaseIterable {
    case len, lower, upper, trim, replace, split, join, contains, startsWith, endsWith
    case urlencode, base64, hex, sha256
    case json, parse, flatten, slug, number, string
    case basename, dirname, stem, `extension`
    case size, digest, text, fileBase64, jsonLines
    case now, uuid
    /// Of the part that an upload is sending; the only one whose name is a path.
    case partDigest = "part.digest"

    /// Those that stand by themselves, in the order in which messages list them.
    static var listed: [ExpressionFunction] { allCases.filter { $0 != .partDigest } }

    /// The names of the arguments as messages show them; their number is the most that can be given.
    var parameters: [String] {
        switch self {
        case .len: ["text, array or object"]
        case .lower, .upper, .trim, .base64, .hex, .sha256, .parse: ["text"]
        case .urlencode, .slug: ["text or number"]
        case .flatten: ["array"]
        case .number: ["text"]
        case .json, .string: ["value"]
        case .replace: ["text", "old", "new"]
        case .split: ["text", "separator"]
        case .join: ["array", "separator"]
        case .contains: ["text or array", "value"]
        case .startsWith, .endsWith: ["text", "part"]
        case .basename, .dirname, .stem, .extension, .size, .text, .fileBase64, .jsonLines: ["path"]
        case .digest: ["path", "algorithm", "encoding"]
        case .partDigest: ["algorithm", "encoding"]
        case .now, .uuid: []
        }
    }

    /// The number of arguments that must be given; those after them have defaults.
    var requiredCount: Int {
        switch self {
        case .digest: 1
        case .partDigest: 0
        default: parameters.count
        }
    }

    /// The words that an argument may be, where it is one of a few.
    func words(ofArgument index: Int) -> [String]? {
        switch (self, index) {
        case (.digest, 1), (.partDigest, 0): DigestAlgorithm.allCases.map(\.rawValue)
        case (.digest, 2), (.partDigest, 1): DigestEncoding.allCases.map(\.rawValue)
        default: nil
        }
    }

    /// True if its value comes from outside of the values that an expression sees.
    var asksOutside: Bool {
        switch self {
        case .size, .digest, .text, .fileBase64, .jsonLines, .now, .uuid: true
        default: false
        }
    }

    /// True if it is of a local file.
    var readsFile: Bool {
        switch self {
        case .size, .digest, .text, .jsonLines, .fileBase64: true
        default: false
        }
    }

    /// True if its value is a number or a boolean, which shows nothing of what it is about.
    var measures: Bool { [.len, .contains, .startsWith, .endsWith].contains(self) }

    /// The form of a call: `replace(text, old, new)`.
    var signature: String { "\(rawValue)(\(parameters.joined(separator: ", ")))" }

    /// Other languages' names for the same.
    static let otherNames: [String: ExpressionFunction] = [
        "length": .len, "count": .len, "toLower": .lower, "lowercase": .lower, "toLowerCase": .lower,
        "toUpper": .upper, "uppercase": .upper, "toUpperCase": .upper, "strip": .trim, "includes": .contains,
        "encodeURIComponent": .urlencode, "urlEncode": .urlencode, "encode": .urlencode, "btoa": .base64,
        "base64encode": .base64, "toJSON": .json, "toJson": .json, "stringify": .json, "fromJSON": .parse,
        "fromJson": .parse, "int": .number, "float": .number, "str": .string, "filename": .basename,
        "folder": .dirname, "flat": .flatten, "fileToBase64": .fileBase64, "readBase64": .fileBase64, "slugify": .slug,
        "fileDigest": .digest, "checksum": .digest, "md5": .digest, "ext": .extension, "filesize": .size,
        "fileSize": .size, "readFile": .text,
        "read": .text, "lines": .jsonLines, "jsonl": .jsonLines, "guid": .uuid, "sha": .sha256,
        "starts_with": .startsWith, "ends_with": .endsWith, "hasPrefix": .startsWith, "hasSuffix": .endsWith,
    ]
}

/// The way in which a digest is written.
enum DigestEncoding: String, CaseIterable {
    case hex, base64
}
