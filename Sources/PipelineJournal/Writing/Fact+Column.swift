import PipelineCore

/// How a fact stands in its table: a kind that the schema checks, and a path or a place.
extension Fact {
    enum ColumnKind: String {
        case size, digest, text, jsonLines, now, uuid
    }

    var column: (kind: ColumnKind, subject: String) {
        switch self {
        case .size(let path): (.size, path)
        case .digest(let path): (.digest, path)
        case .text(let path): (.text, path)
        case .jsonLines(let path): (.jsonLines, path)
        case .now(let place): (.now, place)
        case .uuid(let place): (.uuid, place)
        }
    }

    init?(kind: String, subject: String) {
        switch ColumnKind(rawValue: kind) {
        case .size: self = .size(subject)
        case .digest: self = .digest(subject)
        case .text: self = .text(subject)
        case .jsonLines: self = .jsonLines(subject)
        case .now: self = .now(place: subject)
        case .uuid: self = .uuid(place: subject)
        case nil: return nil
        }
    }
}
