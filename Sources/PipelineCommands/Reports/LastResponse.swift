import JSONPath
import PipelineCore

/// The last response of a service to a step, shortened, and how old it is: for whoever asks why the step still waits.
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
        guard let answer = record.answer else { return "\(age) none, \(failure)" }
        let size = answer.body.size
        let rest = size == 0 ? "without a body" : "with \(SizeText.describe(size)) that are no text"
        return "\(age) \(answer.status) \(body ?? rest)"
    }

    /// `time` of its request, `age` in seconds, `status` and the start of its `body`, or `failure` where none came.
    func json(_ clock: TimeText) -> JSON {
        [
            "time": .string(record.started.description),
            "age": .number(JSONNumber(clock.now.seconds(since: record.started))),
            "status": record.answer.map { .number(JSONNumber($0.status)) } ?? .null, "body": JSON(body),
            "failure": record.answer == nil ? .string(failure) : .null,
        ]
    }

    private var failure: String { record.failure ?? "the connection broke" }

    /// The start of the response's text, in one line; nil without any.
    private var body: String? {
        let text = (record.answer?.body.text ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if text.isEmpty { return nil }
        return text.count > Self.length ? "\(text.prefix(Self.length))…" : text
    }
}
