import PipelineCore

/// How a fact stands in its table: a kind that the schema checks, and a path or a place.
///
/// Paths are absolute, so a word and a colon before one make another fact of the same kind: `md5:/a` is no SHA-256 as
/// `/a` is, `base64:/a` and `written:/a` no text, and `copy:` stands before a URL. So facts that came later need no other
/// table.
extension Fact {
    enum ColumnKind: String {
        case size, digest, text, jsonLines, now, uuid
    }

    private static let base64Mark = "base64"
    private static let copyMark = "copy"

    var column: (kind: ColumnKind, subject: String) {
        switch self {
        case .size(let path): (.size, path)
        case .digest(let path, .sha256): (.digest, path)
        case .digest(let path, let algorithm): (.digest, "\(algorithm.rawValue):\(path)")
        case .text(let path): (.text, path)
        case .base64(let path): (.text, "\(Self.base64Mark):\(path)")
        case .jsonLines(let path): (.jsonLines, path)
        case .copy(let url): (.text, "\(Self.copyMark):\(url)")
        case .kept(let what, let subject): (.text, "\(what.rawValue):\(subject)")
        case .now(let place): (.now, place)
        case .uuid(let place): (.uuid, place)
        }
    }

    init?(kind: String, subject: String) {
        switch ColumnKind(rawValue: kind) {
        case .size: self = .size(subject)
        case .digest:
            guard let (mark, path) = Self.marked(subject), let algorithm = DigestAlgorithm(rawValue: mark) else {
                self = .digest(subject, .sha256)
                return
            }
            self = .digest(path, algorithm)
        case .text:
            switch Self.marked(subject) {
            case (Self.base64Mark, let path)?: self = .base64(path)
            case (Self.copyMark, let url)?: self = .copy(url: url)
            case (let mark, let rest)?: self = Kept(rawValue: mark).map { .kept($0, of: rest) } ?? .text(subject)
            case nil: self = .text(subject)
            }
        case .jsonLines: self = .jsonLines(subject)
        case .now: self = .now(place: subject)
        case .uuid: self = .uuid(place: subject)
        case nil: return nil
        }
    }

    /// The word before the first colon of what is no path, and what follows it.
    private static func marked(_ subject: String) -> (mark: String, rest: String)? {
        guard !subject.hasPrefix("/"), let colon = subject.firstIndex(of: ":") else { return nil }
        return (String(subject[..<colon]), String(subject[subject.index(after: colon)...]))
    }
}
