import JSONPath
import PipelineCore

/// The place of a list's entries in a response.
struct PageItems: Sendable {
    private enum Source: Sendable {
        case query(JSONPathQuery)
        case selector(Selector)
    }

    /// The reason why there are no entries to be had.
    struct Failure: Error, Sendable {
        let message: String
    }

    private let source: Source
    private let isOptional: Bool
    /// As written.
    let text: String

    init(_ selector: Selector) {
        text = selector.text
        isOptional = selector.isOptional
        // Of a query that names one place the array there is meant; of any other each node, be it an array itself.
        let bare = selector.text.hasSuffix("[]") ? String(selector.text.dropLast(2)) : selector.text
        source = (try? JSONPathQuery(bare)).map(Source.query) ?? .selector(selector)
    }

    /// As written, without `[]` at its end.
    var bareText: String { text.hasSuffix("[]") ? String(text.dropLast(2)) : text }

    /// The entries in their order; none when the place is missing or null.
    func items(in answer: ServiceResponse) throws(Failure) -> [JSON] {
        switch source {
        case .selector(let selector): return Self.elements(selector.lenientValue(in: answer))
        case .query(let query):
            guard !answer.body.isEmpty else { return [] }
            let nodes: [JSON]
            do {
                nodes = try query.nodes(in: try answer.json())
            } catch let error as JSONSyntaxError {
                throw Failure(message: "the page is not JSON: at byte \(error.offset), \(error.message)")
            } catch let error as JSONPathEvaluationError {
                throw Failure(message: "\(text) cannot be looked up: \(error.message)")
            } catch {
                throw Failure(message: "\(text) cannot be looked up")
            }
            return query.isSingular ? nodes.first.map(Self.elements) ?? [] : nodes
        }
    }

    /// Returns whether a response has the list at all, be it empty: without it nothing was looked through. Empty and absent
    /// are one where the author says so with `?`, of a selector that is no query, and of an object without any member, which
    /// is how services that leave out what is empty write a list without entries.
    func hasList(in answer: ServiceResponse) -> Bool {
        guard case .query(let query) = source else { return !answer.body.isEmpty }
        guard let body = try? answer.json() else { return false }
        if isOptional || body == .object([:]) { return true }
        guard let base = query.base(in: body) else { return false }
        switch base.value {
        case .null, .array: return true
        // Some services key their entries by an id; an error is an object too.
        case .object: return !base.isRoot || ErrorMessage.find(in: answer, by: nil) == nil
        case .string, .number, .bool: return false
        }
    }

    /// One entry that is no array counts as a list of one.
    private static func elements(_ value: JSON) -> [JSON] {
        switch value {
        case .null: []
        case .array(let elements): elements
        default: [value]
        }
    }
}

extension FieldType where Value == PageItems {
    /// A selector whose matches are the entries of a list.
    static var pageItems: FieldType { FieldType<Selector>.selector.map { PageItems($0) } }
}
