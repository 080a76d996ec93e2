import JSONPath

/// Something about a stage's success that a person should hear of; the job's end is the same.
package struct WarnDefinition: Sendable {
    package let condition: Expression
    package let message: Template

    /// True if it speaks of one item of a `forEach`; else it is judged once, for the whole stage.
    package var readsItem: Bool {
        (condition.references + message.references).contains { $0.root == .item || $0.root == .index }
    }

    static let conditionField = Field(
        "when", .expression([.stages, .own, .job, .item, .secrets]), required: true, examples: ["self.failed > 0"],
        "An expression, judged when the stage has succeeded.")
    static let messageField = Field(
        "message", .template([.stages, .own, .job, .item]), required: true, examples: ["some requests failed"],
        "What is said when it is true.")

    static var type: FieldType<WarnDefinition> {
        .object([conditionField, messageField]) { reader in
            let condition = reader.required(conditionField)
            let message = reader.required(messageField)
            guard let condition, let message else { return nil }
            return WarnDefinition(condition: condition, message: message)
        }
    }
}
