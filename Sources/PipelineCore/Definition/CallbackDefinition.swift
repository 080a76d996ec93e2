import JSONPath

/// A stage's `callback`: how a push for it is told from a forged or a foreign one.
package struct CallbackDefinition: Sendable {
    /// The way in which a callback proves that it comes from the service; nil when its unguessable address is all there
    /// is.
    package let verification: CallbackVerification?
    /// The condition by which a genuine callback is for this stage; it reads `response.body` and `response.headers` of
    /// the callback.
    package let condition: Expression?
    /// Values out of the callback itself; only where it is verified. Empty for one that only wakes.
    package let capture: CaptureSet

    private static let verificationField = Field(
        "verify", CallbackVerification.type, examples: [["standardWebhooks": "${{ secrets.HOOK }}"]],
        "How a push proves that it comes from the service.")
    private static let conditionField = Field(
        "match", .expression(.judgement), examples: ["response.body.id == self.id"],
        "An expression on the push; false passes it over.")
    private static let captureField = Field(
        "capture", FieldType<CaptureSet>.captures(), examples: [["text": "$.results.transcript"]],
        "Values from the callback itself, for services that send their result and keep none; needs 'verify'.")

    /// The field of a stage that can be woken by a push.
    package static let field = Field(
        "callback", type, examples: [["match": "response.body.id == self.id"]],
        "A callback that wakes the stage; but for 'capture' what it says is not believed, the service is asked.")

    static var type: FieldType<CallbackDefinition> {
        .object([verificationField, conditionField, captureField]) { reader in
            if reader.has(captureField.name), !reader.has(verificationField.name),
                let place = reader.place(of: captureField.name)
            {
                reader.findings.report(
                    place, "a callback whose values are taken must be verified: anybody could send them",
                    hint: "add \"verify\": { \"token\": \"${{ secrets.HOOK }}\" }, or what the service signs with")
            }
            return CallbackDefinition(
                verification: reader.optional(verificationField), condition: reader.optional(conditionField),
                capture: reader.value(captureField, default: CaptureSet()))
        }
    }
}
