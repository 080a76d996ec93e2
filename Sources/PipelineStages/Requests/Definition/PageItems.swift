import JSONPath
import PipelineCore

/// The place of a list's entries in a response.
struct PageItems: Sendable {
    /// The reason why there are no entries to be had.
    struct Failure: Error, Sendable {
        let message: String
    }

    private let selector: Selector
    /// Nil when the selector has another form.
    private let query: JSONPathQuery?

    init(_ selector: Selector) {
        self.selector = selector
        // Of a query that names one place the array there is meant; of any other each node, be it an array itself.
        let bare = selector.text.hasSuffix("[]") ? String(selector.text.dropLast(2)) : selector.text
        query = try? JSONPathQuery(bare)
    }

    /// As written.
    var text: String { selector.text }

    /// As written, without `[]` at its end.
    var bareText: String { text.hasSuffix("[]") ? String(text.dropLast(2)) : text }

    /// The entries in their order; none when the place is missing or null.
    func items(in answer: ServiceResponse) throws(Failure) -> [JSON] {
        guard let query else { return Self.elements(selector.lenientValue(in: answer)) }
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

    /// Returns whether a response has the list at all, be it empty: without it nothing was looked through.
    ///
    /// A page that says an error has it only where an array stands at the place. Of any other, empty and absent are one
    /// where the author says so with `?`, and of an object without any member, which is how services that leave out what is
    /// empty write a list without entries; and null is an empty list unless the page says something in words.
    func hasList(in answer: ServiceResponse) -> Bool {
        guard !answer.body.isEmpty else { return false }
        let body: JSON = (try? answer.json()) ?? .null
        return selector.listPlaces(in: answer).contains { isList($0, in: body) }
    }

    private func isList(_ place: Selector.ListPlace, in body: JSON) -> Bool {
        switch place {
        case .unreadable: return false
        case .value(.array, holdsEntries: _): return true
        case _ where ErrorMessage.isError(body): return false
        case .missing: return selector.isOptional || body == .object([:])
        case .whole, .value(.null, holdsEntries: _): return selector.isOptional || !ErrorMessage.hasWords(body)
        // Some services key their entries by an id; an error is an object too.
        case .value(.object(let members), let holdsEntries):
            let value = JSON.object(members)
            return !ErrorMessage.isError(value) && !(holdsEntries && ErrorMessage.hasWords(value))
        case .value: return false
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
