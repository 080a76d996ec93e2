import JSONPath
import PipelineCore

/// The way in which one request asks for many jobs: `"list": { "GET": "/models", "query": { "ids": "${{ join(ids, ',')
/// }}" }, … }`.
///
/// It saves requests and decides nothing: what it says is believed where the poll of the one job would say no less.
struct PollList: Sendable {
    @Indirect private(set) var request: RequestDefinition
    let items: PageItems
    /// The id in an entry.
    let id: Selector
    /// The number of ids that are asked for at a time.
    let atMost: Int
    /// True if an entry is all that the service has to say of a job, so that its end needs no confirmation.
    let isWhole: Bool
    /// The rule by which further pages are found; nil for a list of one page.
    let paginate: PaginateDefinition?

    /// Statuses by which a service refuses a list for its length.
    static let refusals = [400, 413, 414, 422, 431]

    private static let itemsField = Field(
        "items", FieldType<PageItems>.pageItems, required: true, examples: ["$.data[*]"], "The entries of the list.")
    private static let idField = Field(
        "id", FieldType<Selector>.selector, required: true, examples: ["$.id"], "Where an entry has the job's id.")
    private static let atMostField = Field(
        "atMost", FieldType<Setting<Int>>.count(1...10_000, roots: []), default: 100,
        "How many ids are asked for at once.")
    private static let wholeField = Field(
        "whole", FieldType<Setting<Bool>>.flag([]), default: false,
        "Whether entries are whole: else the end of a job is confirmed by its own poll.")

    static func type(_ decorators: DecoratorCatalogue) -> FieldType<PollList> {
        let roots = AllowedRoots.request.union(.ids)
        let request = RequestFields(roots, decorators: decorators, options: .init(declaresCaptures: false))
        let pages = PaginateDefinition.ListFields(roots)
        let fields: [any AnyField] = request.all + [itemsField, idField, atMostField, wholeField] + pages.all
        let table = FieldTable(fields)
        return FieldType(schema: request.schema(with: fields)) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let definition = request.read(reader)
            let (items, id) = (reader.required(itemsField), reader.required(idField))
            let atMost = reader.value(atMostField, default: .constant(100))
            let isWhole = reader.value(wholeField, default: .constant(false))
            let paginate = items.flatMap { pages.read(reader, items: $0) }
            guard reader.finish(), var definition, let items, let id else { return nil }
            definition.place = place
            return PollList(
                request: definition, items: items, id: id, atMost: atMost.constant ?? 100,
                isWhole: isWhole.constant ?? false, paginate: paginate)
        }
    }
}
