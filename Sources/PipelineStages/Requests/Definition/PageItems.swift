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
    /// As written.
    let text: String

    init(_ selector: Selector) {
        text = selector.text
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
