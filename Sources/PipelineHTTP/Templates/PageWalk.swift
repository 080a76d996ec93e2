/// The reason why pages can't be followed further.
package enum PagingFailure: Error, Sendable, Hashable {
    /// The cursor or URL led to a page that was seen before.
    case repeated(String)
    /// That many counted pages in a row are the same: the service does not know the parameter.
    case samePages(count: Int)
    /// The next URL belongs to another origin.
    case otherOrigin(String)
    /// The next URL is none.
    case notURL(String)
}

/// A walk over the pages of a list: which page is next, and what was seen so far. Pure, of constant size, and kept as
/// JSON: whoever keeps it can go on at the page reached.
package struct PageWalk: Sendable, Hashable, Codable {
    /// The address of a page.
    package enum Position: Sendable, Hashable, Codable {
        case first
        case cursor(String)
        /// Absolute.
        case url(String)
        /// Of a page, or of its first item.
        case number(Int)
    }

    /// The page that is to be fetched next.
    package private(set) var position = Position.first
    /// The number of pages that were seen.
    package private(set) var pages = 0
    /// The number of items that they had.
    package private(set) var items = 0
    /// True if there is no further page.
    package private(set) var isFinished = false
    /// True if it ended for the number of pages, and not because there was none left.
    package private(set) var isCutOff = false
    private var trail = PageTrail()
    private var content: PageFingerprint?
    /// How many pages in a row had that content; nil for one.
    private var equals: Int?

    /// The cursor or URL of the page that is to be fetched next; nil for the first, and where pages are counted. It is
    /// changed for keeping it where no secret in it may stand.
    package var target: String? {
        get {
            switch position {
            case .cursor(let text), .url(let text): text
            case .first, .number: nil
            }
        }
        set {
            guard let newValue else { return }
            switch position {
            case .cursor: position = .cursor(newValue)
            case .url: position = .url(newValue)
            case .first, .number: break
            }
        }
    }

    /// True if all pages that were counted so far are the same: the service may not know the parameter.
    package var hasOnlyEquals: Bool { pages > 1 && equals == pages }

    /// As many equal pages in a row are no chance: a list of equal readings may have some.
    private static let mostEquals = 10

    package init() {}

    /// Goes on after a page. Where no more are wanted and all were the same, they are copies of one, and no list.
    ///
    /// - Parameters:
    ///   - limit: the most pages that are wanted; nil for all.
    ///   - origin: where the first page was asked for (``URLParts/origin``), not where a redirect led: a next URL must
    ///     have the same, as the credentials go there. Nil allows any.
    ///   - label: names a cursor or URL by a text that is its own; of it a fingerprint is kept, to find circles. Who keeps
    ///     the walk takes a keyed hash, so that nothing can be read from that.
    package mutating func advance(
        after page: PageFacts, by rule: PageRule, limit: Int? = nil, origin: String?,
        label: (String) -> String = { $0 }
    ) throws(PagingFailure) {
        pages += 1
        items += page.itemCount ?? 0
        let next = try next(after: page, by: rule, origin, label)
        guard let next else {
            isFinished = true
            return
        }
        position = next
        guard let limit, pages >= limit else { return }
        if hasOnlyEquals { throw .samePages(count: pages) }
        isFinished = true
        isCutOff = true
    }

    private mutating func next(
        after page: PageFacts, by rule: PageRule, _ origin: String?, _ label: (String) -> String
    ) throws(PagingFailure) -> Position? {
        if page.itemCount == 0 || !page.hasMore { return nil }
        switch rule {
        case .page(_, let first):
            try compare(page.content)
            return .number(first + pages)
        case .offset:
            try compare(page.content)
            return .number(items)
        case .cursor:
            guard let cursor = page.next, !cursor.isEmpty else { return nil }
            guard trail.insert(label(cursor)) else { throw .repeated(cursor) }
            return .cursor(cursor)
        case .url:
            guard let target = page.next, !target.isEmpty else { return nil }
            return .url(try url(target, from: page.url, origin, label))
        }
    }

    private mutating func url(
        _ target: String, from base: String, _ origin: String?, _ label: (String) -> String
    ) throws(PagingFailure) -> String {
        guard let url = CurlURL.resolve(target, against: base) else { throw .notURL(target) }
        guard origin == nil || URLParts(url)?.origin == origin else { throw .otherOrigin(url) }
        if pages == 1 { _ = trail.insert(label(base)) }
        guard trail.insert(label(url)) else { throw .repeated(url) }
        return url
    }

    private mutating func compare(_ fingerprint: PageFingerprint?) throws(PagingFailure) {
        let count = fingerprint != nil && fingerprint == content ? (equals ?? 1) + 1 : 1
        if count == Self.mostEquals { throw .samePages(count: count) }
        equals = count > 1 ? count : nil
        content = fingerprint
    }
}

/// Sixty-four bits that tell texts apart (FNV-1a; Fowler, Noll, Vo). The same on every machine and in every process.
public struct PageFingerprint: Sendable, Hashable, Codable {
    private var bits: UInt64 = 0xcbf2_9ce4_8422_2325

    /// A digest of a page's bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { bits = (bits ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    public init(from decoder: any Decoder) throws { bits = try decoder.singleValueContainer().decode(UInt64.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bits)
    }
}

/// The memory by which a walk that leads in a circle is found, of constant size: the last places, and one that is moved
/// on each time the number of places has doubled, which meets every circle in the end (Brent, "An improved Monte Carlo
/// factorization algorithm", BIT 20, 1980).
struct PageTrail: Sendable, Hashable, Codable {
    private static let length = 64

    private var recent: [PageFingerprint] = []
    private var mark: PageFingerprint?
    private var count = 0

    /// Notes a place; false when it is known.
    mutating func insert(_ place: String) -> Bool {
        let fingerprint = PageFingerprint(place.utf8)
        guard fingerprint != mark, !recent.contains(fingerprint) else { return false }
        count += 1
        if count & (count - 1) == 0 { mark = fingerprint }
        recent.append(fingerprint)
        if recent.count > Self.length { recent.removeFirst() }
        return true
    }
}
