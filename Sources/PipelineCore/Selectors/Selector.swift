package import JSONPath

/// A rule for what is taken out of a response: one of the forms of a selector, or a list of which the first that
/// matches counts.
///
/// - `$…` JSONPath (RFC 9535) on the body, `$items…` on the items of all pages, `/…` a JSON Pointer (RFC 6901),
///   `header:NAME`, `status`, `url`, `text`, `regex:PATTERN`, `xml:/A/B`.
/// - `?` after a `$` or `header:` selector gives null for none, `[]` the array of all (empty for none).
/// - The object form `{"select": S, "optional": …, "all": …, "url": …, "secret": …}` says it for any.
///
/// Of a list, one that gives null counts only when no later one gives more: services name both of two results and set
/// the one that is not there to null.
package struct Selector: Sendable {
    /// One entry; most selectors have just one.
    struct Alternative: Sendable {
        /// As written, without its suffixes.
        let text: String
        let source: SelectorSource
        var isOptional = false
        var takesAll = false
        /// True if the values are references that are resolved against the URL of the answer.
        var isURL = false
    }

    /// As written, for messages; the entries of a list with `or` between them.
    package let text: String
    /// True if the value is redacted wherever it is shown.
    package let isSecret: Bool
    /// The parts that are allowed but never useful, such as a regular expression that can match nothing.
    package let warnings: [SelectorError]
    let alternatives: [Alternative]

    /// True if it may find nothing: its author says that what it names may be left out.
    package var isOptional: Bool { alternatives.contains(where: \.isOptional) }

    /// True if what it finds is a text, and no other value.
    package var givesText: Bool {
        alternatives.allSatisfy { alternative in
            switch alternative.source {
            case .header, .url, .text, .pattern, .xml: !alternative.takesAll
            case .query, .pointer, .items, .status: false
            }
        }
    }

    /// True if it reads `$items`, which only a paginated request has.
    package var readsItems: Bool {
        alternatives.contains { if case .items = $0.source { true } else { false } }
    }

    /// True if it reads the body of a response, which of a paginated request is the last page's alone.
    package var readsBody: Bool {
        alternatives.contains { alternative in
            switch alternative.source {
            case .query, .pointer, .text, .pattern, .xml: true
            case .items, .header, .status, .url: false
            }
        }
    }

    init(text: String, alternatives: [Alternative], isSecret: Bool, warnings: [SelectorError]) {
        self.text = text
        self.alternatives = alternatives
        self.isSecret = isSecret
        self.warnings = warnings
    }

    /// Reads a selector of a document; mistakes are appended to `errors`, and then the result is nil.
    ///
    /// - Parameter source: the document, so that mistakes point exactly.
    package static func parse(_ node: JSONNode, in source: SourceText?, errors: inout [SelectorError]) -> Selector? {
        var reader = SelectorReader(source: source)
        let selector = reader.selector(node)
        errors += reader.errors
        return reader.errors.isEmpty ? selector : nil
    }

    /// Reads a selector from its text alone, in the form of a string.
    package static func parse(_ text: String) throws(SelectorError) -> Selector {
        let range = SourceRange(start: 0, end: text.utf8.count)
        var reader = SelectorReader(source: nil)
        let node = JSONNode(range: SourceRange(start: -1, end: range.end + 1), content: .string(text))
        let selector = reader.selector(node)
        if let error = reader.errors.first { throw error }
        guard let selector else { throw SelectorError("\"\(text)\" is no selector", range: range) }
        return selector
    }
}
