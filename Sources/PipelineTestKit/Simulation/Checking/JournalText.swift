import JSONPath
import PipelineCore

/// The text that a change puts on disk, as bytes to be searched.
enum JournalText {
    static func write(_ change: JournalChange, after job: JobSnapshot, into bytes: inout [UInt8]) {
        switch change {
        case .step(let key, let step):
            let old = job.steps[key]
            if old?.state != step.state { step.state.detail.write(into: &bytes) }
            if old?.captures != step.captures { JSON.object(step.captures).write(into: &bytes) }
            if old?.checkpoint != step.checkpoint { bytes += step.checkpoint ?? [] }
        case .submit(_, let record): bytes += Array(record.key.utf8) + Array(record.digest.utf8)
        case .fact(let fact, let value):
            bytes += Array(fact.description.utf8)
            value.write(into: &bytes)
        case .event(let event): event.json.write(into: &bytes)
        case .file(let file): bytes += Array(file.path.utf8)
        case .notification(let record):
            JSON.object(record.data).write(into: &bytes)
            bytes += Array("\(record.title)\n\(record.problem ?? "")".utf8)
        case .item(let outcome):
            JSON.object(outcome.results).write(into: &bytes)
            if let failure = outcome.failure { failure.failure.json.write(into: &bytes) }
        case .resume, .sample, .taken, .requested, .answered, .released, .ended, .callbacksTaken,
            .callbackJudged, .callbacksVoided,
            .reopened,
            .measured:
            break
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
