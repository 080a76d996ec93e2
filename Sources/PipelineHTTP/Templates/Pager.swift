/// The place of the parameter that leads to a page.
public struct PageParameter: Sendable, Hashable {
    /// A part of a request.
    public enum Place: String, Sendable, Hashable, CaseIterable {
        case query, body, header
    }

    /// The name of the parameter.
    public let name: String
    /// The place where the parameter stands.
    public let place: Place

    /// A parameter that says which page is asked for.
    public init(_ name: String, in place: Place = .query) {
        self.name = name
        self.place = place
    }
}

/// The difference of a page's request from the first one.
public enum PageRule: Sendable, Hashable {
    /// Another URL, which each page names: a `Link` header (RFC 8288), or a value in the body.
    case url
    /// A value of the page before, under a name.
    case cursor(PageParameter)
    /// Pages are counted from `first`.
    case page(PageParameter, first: Int = 1)
    /// The items of all pages before are counted.
    case offset(PageParameter)

    /// Returns what leads to a position; nil for the first page, and where the position is a URL.
    package func parameter(at position: PageWalk.Position) -> (parameter: PageParameter, value: String)? {
        switch (self, position) {
        case (.cursor(let parameter), .cursor(let value)): (parameter, value)
        case (.page(let parameter, _), .number(let number)), (.offset(let parameter), .number(let number)):
            (parameter, String(number))
        default: nil
        }
    }

    /// The parameter that names the first page, for those who want it named; nil for pages that are not counted.
    package var firstParameter: (parameter: PageParameter, value: String)? {
        switch self {
        case .url, .cursor: nil
        case .page(let parameter, let first): (parameter, String(first))
        case .offset(let parameter): (parameter, "0")
        }
    }
}

/// The facts of a page that matter for the next one.
public struct PageFacts: Sendable, Hashable {
    /// The URL that the page was asked of.
    public var url: String
    /// The number of items that it has; nil when that is not known. An empty page is the last.
    public var itemCount: Int?
    /// The next cursor, or the next URL, absolute or relative to the page's own; nil or empty on the last page.
    public var next: String?
    /// False when the page says that it is the last.
    public var hasMore: Bool
    /// Tells contents of pages apart, for pages that are counted; nil when they are not compared.
    public var content: PageFingerprint?

    /// Makes the facts of a page that matter for the next one.
    ///
    /// - Parameters:
    ///   - itemCount: how many items the page has, for paging by offset.
    ///   - next: the cursor or the URL of the next page; nil on the last one.
    ///   - hasMore: false if the page says that it is the last.
    ///   - content: a digest of the page, by which a repeated one is noticed.
    public init(
        url: String, itemCount: Int? = nil, next: String? = nil, hasMore: Bool = true, content: PageFingerprint? = nil
    ) {
        self.url = url
        self.itemCount = itemCount
        self.next = next
        self.hasMore = hasMore
        self.content = content
    }
}

/// Says where the next page is; pure: it sees a page and its answer, and sends nothing.
public struct Pager<Page: Sendable>: Sendable {
    /// The rule by which the next page is asked for.
    public let rule: PageRule
    /// The facts of a page; its URL is filled in by the one that asked for it.
    let facts: @Sendable (Page, HTTPExchangeResponse) -> PageFacts

    /// A pager of any style; `facts` is called once for each page.
    public init(_ rule: PageRule, facts: @escaping @Sendable (Page, HTTPExchangeResponse) -> PageFacts) {
        self.rule = rule
        self.facts = facts
    }

    /// A value taken from the page, under the given parameter; nil or empty ends.
    public static func cursor(_ name: String, _ value: @escaping @Sendable (Page) -> String?) -> Pager {
        Pager(.cursor(PageParameter(name))) { page, response in PageFacts(url: response.url, next: value(page)) }
    }

    /// A URL taken from the page; nil or empty ends.
    public static func url(_ value: @escaping @Sendable (Page) -> String?) -> Pager {
        Pager(.url) { page, response in PageFacts(url: response.url, next: value(page)) }
    }

    /// The `next` link of the `Link` header (RFC 8288).
    public static var link: Pager {
        Pager(.url) { _, response in
            PageFacts(url: response.url, next: LinkHeader.target(of: "next", in: response.header("Link") ?? ""))
        }
    }
}

extension Pager where Page: Collection {
    /// Pages counted from `first`; an empty one ends.
    public static func page(_ name: String, first: Int = 1) -> Pager {
        Pager(.page(PageParameter(name), first: first)) { page, response in
            PageFacts(url: response.url, itemCount: page.count)
        }
    }

    /// The number of elements so far; an empty page ends.
    public static func offset(_ name: String) -> Pager {
        Pager(.offset(PageParameter(name))) { page, response in PageFacts(url: response.url, itemCount: page.count) }
    }
}
