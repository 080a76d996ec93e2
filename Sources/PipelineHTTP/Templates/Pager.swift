/// Says where the next page is; pure: it sees a page and its answer, and sends nothing.
public struct Pager<Page: Sendable>: Sendable {
    /// How the request of the next page differs from the first one.
    public enum Change: Sendable, Equatable {
        case end
        /// Replaces one parameter of the query.
        case parameter(name: String, value: String)
        /// Another URL, absolute or relative to the page's own.
        case url(String)
    }

    /// Called after each page, with the number of pages so far.
    public let next: @Sendable (Page, HTTPExchangeResponse, Int) -> Change

    public init(next: @escaping @Sendable (Page, HTTPExchangeResponse, Int) -> Change) {
        self.next = next
    }

    /// A value taken from the page, under the given parameter; nil or empty ends.
    public static func cursor(_ name: String, _ value: @escaping @Sendable (Page) -> String?) -> Pager {
        Pager { page, _, _ in
            guard let cursor = value(page), !cursor.isEmpty else { return .end }
            return .parameter(name: name, value: cursor)
        }
    }

    /// The `next` link of the `Link` header (RFC 8288).
    public static var link: Pager {
        Pager { _, response, _ in
            LinkHeader.target(of: "next", in: response.header("Link") ?? "").map { .url($0) } ?? .end
        }
    }
}

extension Pager where Page: Collection {
    /// Pages counted from `first`; an empty one ends.
    public static func page(_ name: String, first: Int = 1) -> Pager {
        Pager { page, _, count in page.isEmpty ? .end : .parameter(name: name, value: String(first + count)) }
    }
}

/// The `Link` header (RFC 8288 §3).
public enum LinkHeader {
    /// The target of the first link of that relation.
    public static func target(of relation: String, in value: String) -> String? {
        var rest = value[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            let parameters = rest.prefix { $0 != "<" }
            if relations(in: parameters).contains(relation.lowercased()) { return String(target) }
        }
        return nil
    }

    private static func relations(in parameters: Substring) -> [String] {
        for parameter in parameters.split(separator: ";") {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].filter({ $0 != " " }).lowercased() == "rel" else { continue }
            let value = pair[1].prefix { $0 != "," }.filter { $0 != "\"" }
            return value.lowercased().split(separator: " ").map(String.init)
        }
        return []
    }
}
