import JSONPath

/// Something about the outside that an expression asked for; with it, evaluation stays a pure function.
///
/// Whoever evaluates obtains a missing fact, journals it and evaluates again, so that a job which goes on after a
/// crash computes what it computed before. A place is that of the document alone: facts of a stage with `forEach` are
/// kept for each item, or all items share one UUID.
public enum Fact: Hashable, Sendable {
    /// The size of a file in bytes, a number. Paths are absolute.
    case size(String)
    /// A digest of a file in lower-case hex, a string.
    case digest(String, DigestAlgorithm)
    /// The text of a file of at most 1 MiB, a string.
    case text(String)
    /// The bytes of a file of at most 1 MiB in base64, a string.
    case base64(String)
    /// The values of a file of JSON Lines, an array.
    case jsonLines(String)
    /// The absolute path of the local copy of an input that is a URL, a string.
    case copy(url: String)
    /// The time of the first evaluation at that place of the document, RFC 3339 in UTC, a string.
    case now(place: String)
    /// A UUID of the first evaluation at that place of the document, a string.
    case uuid(place: String)
    /// A note of the job about a file, a URL or a key; no expression reads it.
    case kept(Kept, of: String)

    /// The kinds of notes that a job keeps besides what expressions read. The raw values stand in journals.
    public enum Kept: String, Sendable {
        /// The mark of the content of the first copy of an input that is a URL, a string: one that is fetched again has the
        /// same.
        case copied
        /// The size and age of the file that a step has written at a path, a string: another machine may have another one
        /// there.
        case written
        /// The states of the files that a step has sent last, an object by path: a person may mend them later.
        case sent
        /// The cost of an order under a key that came to no result, a number: it is paid once, whatever comes of it later.
        case paid
    }

    package static func copied(url: String) -> Fact { .kept(.copied, of: url) }

    package static func written(_ path: String) -> Fact { .kept(.written, of: path) }

    package static func sent(by step: StepKey) -> Fact { .kept(.sent, of: step.description) }

    package static func paid(key: String) -> Fact { .kept(.paid, of: key) }

    /// The file that this fact is about, whose fingerprint is kept with it; nil for others.
    package var path: String? {
        switch self {
        case .size(let path), .digest(let path, _), .text(let path), .base64(let path), .jsonLines(let path): path
        case .copy, .now, .uuid, .kept: nil
        }
    }
}

extension Fact {
    /// Paths are compared byte by byte, as the file system does: names that Swift takes for equal are those of two files.
    public static func == (left: Fact, right: Fact) -> Bool {
        left.parts.kind == right.parts.kind && left.parts.text.utf8.elementsEqual(right.parts.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.kind)
        for byte in parts.text.utf8 { hasher.combine(byte) }
    }

    /// The kind, for a digest its algorithm, and what it is about.
    var parts: (kind: String, text: String) {
        switch self {
        case .size(let path): ("size", path)
        case .digest(let path, let algorithm): (algorithm.rawValue, path)
        case .text(let path): ("text", path)
        case .base64(let path): ("base64", path)
        case .jsonLines(let path): ("jsonLines", path)
        case .copy(let url): ("copy", url)
        case .kept(let what, let subject): (what.rawValue, subject)
        case .now(let place): ("now", place)
        case .uuid(let place): ("uuid", place)
        }
    }
}

extension Fact: CustomStringConvertible {
    /// As the expression writes it: `size('/videos/a.mp4')`, `now()`.
    public var description: String {
        switch self {
        case .size(let path): "size('\(path)')"
        case .digest(let path, .sha256): "digest('\(path)')"
        case .digest(let path, let algorithm): "digest('\(path)', '\(algorithm.rawValue)')"
        case .text(let path): "text('\(path)')"
        case .base64(let path): "fileBase64('\(path)')"
        case .jsonLines(let path): "jsonLines('\(path)')"
        case .copy(let url): "the copy of \(url)"
        case .kept(let what, let subject): "\(what) \(subject)"
        case .now: "now()"
        case .uuid: "uuid()"
        }
    }
}

extension [Fact: JSON] {
    /// What told a file that the job has written from others when it was written; nil for one that no stage reads.
    package func trace(ofFileAt path: String) -> String? { self[.written(path)]?.string }

    /// The absolute paths of the local copies of inputs that are URLs.
    var copies: [String] { compactMap { fact, path in if case .copy = fact { path.string } else { nil } } }
}
