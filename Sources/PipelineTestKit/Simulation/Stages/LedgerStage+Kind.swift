package import PipelineCore
package import PipelineHTTP

extension StageKind {
    /// The kind `ledger`: `input` is what is submitted, `once` one of ``LedgerStage/Once``, `token` a bearer token.
    package static func ledger(over transport: any Transport, flaw: LedgerStage.Flaw? = nil) -> StageKind {
        let input = Field("input", FieldType<JSONTemplate>.json(), required: true, "What is submitted.")
        let token = Field("token", FieldType<JSONTemplate>.json(), "The bearer token of its requests.")
        let once = Field("once", FieldType<LedgerStage.Once>.word("once"), "How a lost submit is settled.")
        let fields: [any AnyField] = [input, token, once]
        return StageKind(name: "ledger", summary: "A submit and its polls.", fields: fields) { reading in
            reading.declare([CaptureDeclaration(name: "id"), CaptureDeclaration(name: "value")])
            guard let input = reading.reader.required(input) else { return nil }
            let stage = LedgerStage(
                transport: transport, input: input, token: reading.reader.optional(token),
                once: reading.reader.value(once, default: .none), flaw: flaw)
            return AnyStage(stage, coding: coding)
        }
    }

    private static var coding: CheckpointCoding<LedgerStage.Checkpoint> {
        CheckpointCoding(
            encode: { Array(($0.job ?? "").utf8) },
            decode: { bytes in LedgerStage.Checkpoint(job: bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self))
            })
    }
}
