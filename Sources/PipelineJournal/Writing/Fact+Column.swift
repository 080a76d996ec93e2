import PipelineCore

/// How a fact stands in its table: a kind that the schema checks, and a path or a place.
///
/// Paths are absolute, so a word and a colon before one make another fact of the same kind: `md5:/a` is no SHA-256 as
/// `/a` is, `base64:/a` and `written:/a` no text, and `copy:` and `copied:` stand before a URL, `paid:` before a key. So facts that came later
/// need no other table.
extension Fact {
    enum ColumnKind: String {
        case size, digest, text, jsonLines, now, uuid
    }

    private static let base64Mark = "base64:"
    private static let copyMark = "copy:"
    private static let copiedMark = "copied:"
    private static let writtenMark = "written:"
    private static let paidMark = "paid:"

    var column: (kind: ColumnKind, subject: String) {
        switch self {
        case .size(let path): (.size, path)
        case .digest(let path, .sha256): (.digest, path)
        case .digest(let path, let algorithm): (.digest, "\(algorithm.rawValue):\(path)")
        case .text(let path): (.text, path)
        case .base64(let path): (.text, Self.base64Mark + path)
        case .jsonLines(let path): (.jsonLines, path)
        case .copy(let url): (.text, Self.copyMark + url)
        case .copied(let url): (.text, Self.copiedMark + url)
        case .written(let path): (.text, Self.writtenMark + path)
        case .paid(let key): (.text, Self.paidMark + key)
        case .now(let place): (.now, place)
        case .uuid(let place): (.uuid, place)
        }
    }

    init?(kind: String, subject: String) {
        switch ColumnKind(rawValue: kind) {
        case .size: self = .size(subject)
        case .digest: self = Self.digest(ofSubject: subject)
        case .text where subject.hasPrefix(Self.base64Mark):
            self = .base64(String(subject.dropFirst(Self.base64Mark.count)))
        case .text where subject.hasPrefix(Self.copyMark):
            self = .copy(url: String(subject.dropFirst(Self.copyMark.count)))
        case .text where subject.hasPrefix(Self.copiedMark):
            self = .copied(url: String(subject.dropFirst(Self.copiedMark.count)))
        case .text where subject.hasPrefix(Self.writtenMark):
            self = .written(String(subject.dropFirst(Self.writtenMark.count)))
        case .text where subject.hasPrefix(Self.paidMark):
            self = .paid(key: String(subject.dropFirst(Self.paidMark.count)))
        case .text: self = .text(subject)
        case .jsonLines: self = .jsonLines(subject)
        case .now: self = .now(place: subject)
        case .uuid: self = .uuid(place: subject)
        case nil: return nil
        }
    }

    private static func digest(ofSubject subject: String) -> Fact {
        guard !subject.hasPrefix("/"), let colon = subject.firstIndex(of: ":"),
            let algorithm = DigestAlgorithm(rawValue: String(subject[..<colon]))
        else { return .digest(subject, .sha256) }
        return .digest(String(subject[subject.index(after: colon)...]), algorithm)
    }
}
