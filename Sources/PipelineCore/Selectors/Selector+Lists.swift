package import JSONPath

extension Selector {
    /// The place in an answer where the entries of a list are selected.
    package enum ListPlace: Sendable {
        /// The answer is not of the form that the selector reads.
        case unreadable
        /// There is no such place in the answer, not even with null.
        case missing
        /// The selector names no place in JSON: the entries are searched for in the whole answer.
        case whole
        /// The value at the place; its members are the entries, or it is one itself unless it is an array.
        case value(JSON, holdsEntries: Bool)
    }

    /// The places at which the selectors of a list look, one for each; of a query the one that it names before its first
    /// wildcard.
    package func listPlaces(in answer: ServiceResponse) -> [ListPlace] {
        alternatives.map { $0.source.listPlace(in: answer) }
    }
}

extension SelectorSource {
    fileprivate func listPlace(in answer: ServiceResponse) -> Selector.ListPlace {
        switch self {
        case .query(let query):
            guard case .success(let document) = body(of: answer) else { return .unreadable }
            guard let base = query.base(in: document) else { return .missing }
            return .value(base.value, holdsEntries: base.isRoot || !query.isSingular)
        case .pointer(let pointer):
            guard case .success(let document) = body(of: answer) else { return .unreadable }
            guard let value = pointer.value(in: document) else { return .missing }
            return .value(value, holdsEntries: false)
        case .xml(let path):
            guard let isItsRoot = try? path.beginsAtRoot(of: answer.body) else { return .unreadable }
            return isItsRoot ? .whole : .missing
        // There are no items of pages before the pages are looked through.
        case .items: return .unreadable
        case .header, .status, .url, .text, .pattern: return .whole
        }
    }
}
