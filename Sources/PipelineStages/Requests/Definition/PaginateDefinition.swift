import JSONPath
import PipelineCore
import PipelineHTTP

/// `paginate`: how the pages of a list are followed, as the document has it.
struct PaginateDefinition: Sendable {
    /// The place where a page says what comes next.
    enum Source: Sendable {
        /// The `Link` header, by relation.
        case link(String)
        /// A cursor or a URL in the answer.
        case selector(Selector)
        /// It says nothing: pages or items are counted.
        case counted
    }

    /// The number of items that a page is to have.
    struct Size: Sendable {
        let name: String
        let value: Setting<Int>
    }

    /// The condition that says whether there is another page.
    enum Condition: Sendable {
        /// False, null, nothing or an empty text on the last page.
        case selector(Selector)
        /// False on the last page; it reads `response`.
        case expression(Expression)
    }

    /// The content of a page that is kept; nil in a list whose owner has its own selector for the items.
    var content: PageContent?
    var rule: PageRule
    var source: Source
    /// `while`.
    var condition: Condition?
    var size: Size?
    /// The number of the first page, of pages that are counted.
    var first: Setting<Int>?
    /// The most pages that are fetched; nil for all.
    var maximumPages: Setting<Int>?
    /// The place where it stands in the document.
    var place: SourceLocation

    /// Returns the same with the values of its expressions put in.
    func resolved(in scope: Scope) throws(EvaluationFailure) -> PaginateDefinition {
        var resolved = self
        if let maximumPages { resolved.maximumPages = .constant(try maximumPages.value(in: scope)) }
        if case .page(let parameter, _) = rule, let first {
            resolved.rule = .page(parameter, first: try first.value(in: scope))
        }
        return resolved
    }

    /// How the pages are told apart and what is taken from each, as the document has it: pages that came by another course are
    /// not those of this one.
    var course: String {
        func text(_ setting: Setting<Int>) -> String {
            setting.constant.map(String.init) ?? setting.template?.text ?? ""
        }
        func text(_ parameter: PageParameter) -> String { "\(parameter.place.rawValue) \(parameter.name)" }
        let way =
            switch rule {
            case .url: "url"
            case .cursor(let parameter): "cursor \(text(parameter))"
            case .page(let parameter, let number): "page \(text(parameter)) \(first.map(text) ?? "\(number)")"
            case .offset(let parameter): "offset \(text(parameter))"
            }
        let origin =
            switch source {
            case .link(let relation): "link \(relation)"
            case .selector(let selector): "selector \(selector.text)"
            case .counted: "counted"
            }
        let length = size.map { "size \($0.name) \(text($0.value))" }
        return [way, origin, length, items?.text].map { $0 ?? "" }.joined(separator: "\n")
    }

    /// The items of a page; nil when its text is kept, and in a list whose owner has its own selector for them.
    var items: PageItems? { content?.items }

    /// Returns what a capture is to read for the items of all pages when it reads the last page alone.
    func advice(for selector: Selector) -> String {
        let everything = "\"$items\" is the array of the items of all pages"
        guard let items = items?.bareText, selector.text.hasPrefix("$") else { return everything }
        if selector.text == items || "\(selector.text)[*]" == items { return "write \"$items\": \(everything)" }
        guard items.hasSuffix("[*]"), selector.text.hasPrefix(items) else { return everything }
        return "write \"$items[*]\(selector.text.dropFirst(items.count))[]\": \(everything)"
    }

    /// The names of the parameters that it puts into the place.
    func names(in place: PageParameter.Place) -> [String] {
        var names: [String] = []
        switch rule {
        case .url: break
        case .cursor(let parameter), .page(let parameter, _), .offset(let parameter):
            if parameter.place == place { names.append(parameter.name) }
        }
        if place == .query, let size { names.append(size.name) }
        return names
    }

    /// Reports parameters that the request brings itself, and places that it does not have.
    func check(against request: RequestDefinition, _ findings: DiagnosticCollector) {
        let literal = request.url.pieces.compactMap { if case .literal(let text) = $0 { text } else { nil } }.joined()
        let query = URLQueryNames.names(in: literal) + request.query.entries.map(\.name)
        for name in names(in: .query) where query.contains(name) {
            findings.report(
                place, "the request has the query parameter '\(name)' already, by which the pages are told apart",
                hint: "take it out of the request; 'paginate' puts it in")
        }
        let headers = request.headers.entries.map { $0.name.lowercased() }
        for name in names(in: .header) where headers.contains(name.lowercased()) {
            findings.report(
                place, "the request has the header '\(name)' already, by which the pages are told apart",
                hint: "take it out of the request; 'paginate' puts it in")
        }
        guard let name = names(in: .body).first else { return }
        switch request.body {
        case .none, .json, .form: break
        case .text, .file, .part:
            findings.report(
                place, "the cursor '\(name)' can't be put into a body that is a text or a file",
                hint: "give the request a \"json\" or \"form\" body, or put the cursor \"in\": \"query\"")
        }
    }
}

/// The names of the parameters that a URL brings.
enum URLQueryNames {
    static func names(in url: String) -> [String] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            guard let bytes = PercentEncoding.bytes(of: name) else { return String(name) }
            return String(validating: bytes, as: UTF8.self) ?? String(name)
        }
    }
}
