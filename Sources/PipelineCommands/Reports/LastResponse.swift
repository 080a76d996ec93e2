import PipelineCore

/// What a service said last to a step, shortened, and how old it is: for whoever asks why the step still waits.
struct LastResponse {
    private static let length = 160

    private let record: ExchangeRecord

    /// - Parameter exchanges: of the job, in their order.
    /// - Returns: nil where nothing was asked yet, or it is no longer kept.
    init?(of step: StepKey, in exchanges: [ExchangeRecord]) {
        guard let record = exchanges.last(where: { $0.step == step }) else { return nil }
        self.record = record
    }

    /// One line: `last response 12 s ago: 200 {"state":"running"}`.
    func line(_ clock: TimeText) -> StyledText {
        let age = "last response \(clock.ago(record.started)):"
        guard let answer = record.answer else { return "\(age) none, \(record.failure ?? "the connection broke")" }
        let body = (answer.body.text ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let shortened = body.count > Self.length ? body.prefix(Self.length) + "…" : body[...]
        return "\(age) \(answer.status) \(shortened.isEmpty ? "without text" : String(shortened))"
    }
}
