import JSONPath
import PipelineCore
import PipelineHTTP

extension PaginateDefinition {
    /// The type of `paginate`.
    ///
    /// - Parameter ownsItems: whether it must say what the items are; in `once.match` the list's owner does.
    static func type(_ roots: AllowedRoots, ownsItems: Bool = true) -> FieldType<PaginateDefinition> {
        let items = Field(
            "items", FieldType<PageItems>.pageItems, examples: ["$.data[*]"],
            "The items of a page; captures read those of all pages as $items.")
        let text = Field(
            "text", textType(roots), examples: [["skipLines": 1]],
            "Instead of items: the pages are text, such as CSV, and are appended.")
        let next = Field(
            "next", NextFields(roots).type, required: true, examples: [["link": "next"]], "How the next page is found.")
        let maximum = Field(
            "maxPages", FieldType<Setting<Int>>.count(1...1_000_000_000, roots: roots),
            "The most pages that are fetched; all without it.")
        let fields: [any AnyField] = [items] + (ownsItems ? [text] : []) + [next, maximum]
        return .object(fields) { reader in
            let skipLines = ownsItems ? reader.optional(text) : nil
            let isText = ownsItems && reader.has("text")
            let selector = ownsItems && !isText ? reader.required(items) : reader.optional(items)
            if isText, let place = reader.place(of: "items") {
                reader.findings.report(
                    place, "'items' stands beside 'text'", hint: "pages are items or text: keep one of them")
            }
            let step = reader.required(next)
            let limit = reader.optional(maximum)
            let content = selector.map(PageContent.items) ?? skipLines.map(PageContent.text)
            guard let step, content != nil || !ownsItems else { return nil }
            return PaginateDefinition(
                content: content, rule: step.rule, source: step.source, condition: step.condition, size: step.size,
                first: step.first, maximumPages: limit, place: reader.place)
        }
    }
}

extension PaginateDefinition {
    /// The keys by which a list that has its own `items` says how its pages are found.
    struct ListFields: Sendable {
        private let next: Field<NextPage>
        private let maximum: Field<Setting<Int>>

        init(_ roots: AllowedRoots) {
            next = Field(
                "next", NextFields(roots).type, examples: [["link": "next"]],
                "How the next page is found, of a list that is not asked for ids.")
            maximum = Field(
                "maxPages", FieldType<Setting<Int>>.count(1...1_000_000_000, roots: roots),
                "The most pages that are fetched.")
        }

        var all: [any AnyField] { [next, maximum] }

        /// Nil where there is one page.
        func read(_ reader: ObjectReader, items: PageItems) -> PaginateDefinition? {
            let step = reader.optional(next)
            let limit = reader.optional(maximum)
            return step.map {
                PaginateDefinition(
                    content: .items(items), rule: $0.rule, source: $0.source, condition: $0.condition, size: $0.size,
                    first: $0.first, maximumPages: limit, place: reader.place)
            }
        }
    }
}

extension PaginateDefinition {
    /// The type of `text`: how many lines each page but the first begins with that are left out.
    private static func textType(_ roots: AllowedRoots) -> FieldType<Setting<Int>> {
        let skipLines = Field(
            "skipLines", FieldType<Setting<Int>>.count(0...1000, roots: roots), default: 0,
            "How many lines at the start of all pages but the first are left out, such as the names of columns.")
        return .object([skipLines]) { reader in reader.value(skipLines, default: .constant(0)) }
    }
}

extension FieldType where Value == PaginateDefinition.Condition {
    /// A selector, or an expression on the response.
    fileprivate static func pageCondition(_ roots: AllowedRoots) -> FieldType {
        let selector = FieldType<Selector>.selector
        let expression = FieldType<Expression>.expression(roots.union(.response))
        return FieldType(schema: selector.schema) { place, findings in
            let isSelector = place.text.map { text in
                ["$", "/", "header:", "regex:", "xml:"].contains { text.hasPrefix($0) } && !text.hasPrefix("${{")
            }
            return isSelector ?? true
                ? selector.read(place, findings).map { .selector($0) }
                : expression.read(place, findings).map { .expression($0) }
        }
    }
}

/// The content of `next`.
fileprivate struct NextPage: Sendable {
    var rule: PageRule
    var source: PaginateDefinition.Source
    var condition: PaginateDefinition.Condition?
    var size: PaginateDefinition.Size?
    var first: Setting<Int>?
}

/// The table of the fields of `next`: one of five ways, and what belongs to it.
private struct NextFields: Sendable {
    private static let ways = ["link", "url", "cursor", "page", "offset"]

    private let link = Field("link", FieldType<String>.parameterName, "The relation of a Link header (RFC 8288).")
    private let url = Field("url", FieldType<Selector>.selector, "Where a page has the URL of the next one.")
    private let cursor = Field("cursor", FieldType<Selector>.selector, "Where a page has the cursor of the next one.")
    private let page = Field("page", FieldType<String>.parameterName, "The query parameter with the page's number.")
    private let offset = Field(
        "offset", FieldType<String>.parameterName, "The query parameter with the number of items before the page.")
    private let param = Field("param", FieldType<String>.parameterName, "The parameter that carries the cursor.")
    private let place = Field(
        "in", FieldType<PageParameter.Place>.word("place for a cursor"), default: "query", "Where the cursor is put.")
    private let condition: Field<PaginateDefinition.Condition>
    private let first: Field<Setting<Int>>
    private let size: Field<PaginateDefinition.Size>

    init(_ roots: AllowedRoots) {
        condition = Field(
            "while", .pageCondition(roots), examples: ["$.has_more", "response.body.left > 0"],
            "Whether there is another page: a selector, or an expression on the response.")
        first = Field("first", .count(0...1_000_000, roots: roots), default: 1, "The first page's number.")
        let name = Field("param", FieldType<String>.parameterName, required: true, "The query parameter.")
        let value = Field(
            "value", FieldType<Setting<Int>>.count(1...1_000_000, roots: roots), required: true, "Items in a page.")
        size = Field(
            "size",
            .object([name, value]) { reader in
                let (name, value) = (reader.required(name), reader.required(value))
                guard let name, let value else { return nil }
                return PaginateDefinition.Size(name: name, value: value)
            }, "How many items a page is to have.")
    }

    var type: FieldType<NextPage> {
        .object([link, url, cursor, page, offset, param, place, condition, first, size]) { reader in read(reader) }
    }

    private func read(_ reader: ObjectReader) -> NextPage? {
        let present = Self.ways.filter { reader.has($0) }
        guard let way = present.first, present.count == 1 else {
            if present.isEmpty, reader.hasUnknownKeys { return nil }
            reader.findings.report(
                present.last.flatMap { reader.place(of: $0) } ?? reader.place,
                present.isEmpty
                    ? "'next' does not say how the next page is found"
                    : "'next' has more than one way: \(present.joined(separator: ", "))",
                hint: "give it one of \"link\", \"url\", \"cursor\", \"page\" or \"offset\"")
            return nil
        }
        checkCompany(of: way, reader)
        let found = next(way, reader)
        let condition = reader.optional(condition)
        let size = reader.optional(size)
        guard var found else { return nil }
        found.condition = condition
        found.size = size
        return found
    }

    private func next(_ way: String, _ reader: ObjectReader) -> NextPage? {
        switch way {
        case "link": return reader.optional(link).map { NextPage(rule: .url, source: .link($0)) }
        case "url": return reader.optional(url).map { NextPage(rule: .url, source: .selector($0)) }
        case "page":
            let first = reader.value(first, default: .constant(1))
            return reader.optional(page).map {
                NextPage(rule: .page(PageParameter($0), first: first.constant ?? 1), source: .counted, first: first)
            }
        case "offset":
            return reader.optional(offset).map { NextPage(rule: .offset(PageParameter($0)), source: .counted) }
        default:
            let cursor = reader.optional(cursor)
            let place = reader.value(place, default: .query)
            if !reader.has("param") {
                reader.findings.report(
                    reader.place, "'param' is missing here",
                    hint: "name the parameter that carries the cursor, for example \"param\": \"after\"")
            }
            guard let cursor, let name = reader.optional(param) else { return nil }
            if place == .header, let mistake = HeaderName.mistake(name), let spot = reader.place(of: "param") {
                reader.findings.report(spot, mistake.message, hint: mistake.hint)
                return nil
            }
            return NextPage(rule: .cursor(PageParameter(name, in: place)), source: .selector(cursor))
        }
    }

    /// Keys that have a meaning only next to another way.
    private func checkCompany(of way: String, _ reader: ObjectReader) {
        let owners = [
            "param": ["cursor"], "in": ["cursor"], "first": ["page"], "size": ["page", "offset"],
        ]
        for (name, ways) in owners.sorted(by: { $0.key < $1.key }) where reader.has(name) && !ways.contains(way) {
            guard let place = reader.place(of: name) else { continue }
            let names = ways.map { "'\($0)'" }.joined(separator: " or ")
            reader.findings.report(place, "'\(name)' has a meaning only beside \(names)")
        }
    }
}

extension FieldType where Value == String {
    /// A name that is taken as it is and must not be empty.
    fileprivate static var parameterName: FieldType {
        FieldType(schema: ["type": "string", "minLength": 1]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            if !text.isEmpty { return text }
            findings.report(place, "this name must not be empty")
            return nil
        }
    }
}
