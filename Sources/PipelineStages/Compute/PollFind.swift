import JSONPath
import PipelineCore
import PipelineHTTP

/// The rule by which a poll finds its job in a list: `"find": { "items": "$.runs[*]", "where": "item.name == self.key"
/// }`.
struct PollFind: Sendable {
    let items: PageItems
    /// Reads `item`.
    let condition: Expression

    private static let itemsField = Field(
        "items", FieldType<PageItems>.pageItems, required: true, examples: ["$.runs[*]"], "The entries of the list.")
    private static let conditionField = Field(
        "where", FieldType<Expression>.expression([.stages, .own, .secrets, .job, .item]), required: true,
        examples: ["item.name == self.key"], "Holds for the entry that is the job; it is item there.")

    static let type = FieldType<PollFind>.object([itemsField, conditionField]) { reader in
        let items = reader.required(itemsField)
        let condition = reader.required(conditionField)
        guard let items, let condition else { return nil }
        return PollFind(items: items, condition: condition)
    }

    /// The answer with the entry in the place of the list; nil when the list has none.
    func entry<Checkpoint>(
        of answer: ServiceResponse, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> ServiceResponse? {
        for item in (try? items.items(in: answer)) ?? [] {
            let isIt = try await context.evaluate(with: { $0.item = item }) { scope throws(EvaluationFailure) in
                try condition.evaluateCondition(in: scope)
            }
            guard isIt else { continue }
            return answer.with(body: item.bytes)
        }
        return nil
    }
}
