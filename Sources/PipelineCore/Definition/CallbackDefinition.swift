import JSONPath

/// A stage's `callback`: how a push for it is told from a forged or a foreign one.
public struct CallbackDefinition: Sendable {
    /// How a push proves that it comes from the service; nil when its unguessable address is all there is.
    public let verification: CallbackVerification?
    /// Whether a push that is genuine is for this stage; reads `response.body` and `response.headers` of the push.
    public let condition: Expression?

    private static let verificationField = Field(
        "verify", CallbackVerification.type, examples: [["standardWebhooks": "${{ secrets.HOOK }}"]],
        "How a push proves that it comes from the service.")
    private static let conditionField = Field(
        "match", .expression(.judgement), examples: ["response.body.id == self.id"],
        "An expression on the push; false passes it over.")

    /// The field of a stage that can be woken by a push.
    public static let field = Field(
        "callback", type, examples: [["match": "response.body.id == self.id"]],
        "A push that wakes the stage; what it says is not believed, the service is asked.")

    static var type: FieldType<CallbackDefinition> {
        .object([verificationField, conditionField]) { reader in
            CallbackDefinition(
                verification: reader.optional(verificationField), condition: reader.optional(conditionField))
        }
    }
}
