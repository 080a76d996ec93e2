import JSONPath
import PipelineCore

/// One entry of `fail`: an answer for which the condition holds is a failure, whatever its status.
struct FailRule: Sendable {
    let condition: Expression
    let message: Template?
    /// True if another try may help; otherwise the failure is definite.
    let allowsRetry: Setting<Bool>

    static func type(_ roots: AllowedRoots) -> FieldType<FailRule> {
        let condition = Field(
            "when", FieldType<Expression>.expression(roots.union(.response)), required: true, "Judges the answer.")
        let message = Field("message", FieldType<Template>.template(roots.union(.response)), "What is said then.")
        let retry = Field(
            "retry", FieldType<Setting<Bool>>.flag(roots.union(.response)), default: false,
            "Whether another try may help.")
        return .object([condition, message, retry]) { reader in
            let text = reader.optional(message)
            let allowsRetry = reader.value(retry, default: .constant(false))
            guard let condition = reader.required(condition) else { return nil }
            return FailRule(condition: condition, message: text, allowsRetry: allowsRetry)
        }
    }
}
