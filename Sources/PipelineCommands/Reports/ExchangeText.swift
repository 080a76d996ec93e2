import PipelineCore
import PipelineKit

/// One request with its response, for `-v` and `-vv`; whoever made the record has redacted it.
struct ExchangeText {
    let record: ExchangeRecord

    /// The request and the status in one line, then the headers of both.
    func lines(withHeaders: Bool) -> [StyledText] {
        var line: StyledText = "\("\(record.step):", .dim) \(record.method, .bold) \(record.url)"
        if let body = record.body, body.size > 0 { line += " (\(SizeText.describe(body.size)))" }
        if let answer = record.answer {
            let style: StyledText.Style = answer.status < 400 ? .green : .red
            line += " → \("\(answer.status)", style) in \(DurationText.rounded(answer.timings.total))"
            if answer.body.size > 0 { line += ", \(SizeText.describe(answer.body.size))" }
        } else {
            line += " → \(record.failure ?? "no response", .red)"
        }
        guard withHeaders else { return [line] }
        let fields = { (mark: String, fields: [ExchangeRecord.Field]) -> [StyledText] in
            fields.map { "  \("\(mark) \($0.name):", .dim) \($0.value)" }
        }
        return [line] + fields(">", record.headers) + fields("<", record.answer?.headers ?? [])
    }
}
