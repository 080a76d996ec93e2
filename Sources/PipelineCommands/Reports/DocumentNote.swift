import JSONPath
import PipelineCore
import PipelineKit

/// The line for a person who takes up a job, or looks at one, whose document has changed since: the job keeps the one
/// that it was started from.
struct DocumentNote {
    let text: String

    /// Nil where the file says what it said, or can't be read.
    init?(of job: JobSnapshot) {
        self.init(
            of: job.record, isBatch: job.batch != nil || job.record.item != nil, submitted: Self.submitted(of: job))
    }

    /// - Parameter submitted: a step whose remote job another job would not take over, but submit once more.
    private init?(of record: JobRecord, isBatch: Bool, submitted: StepKey?) {
        guard let file = record.sourceName.split(separator: "/").last,
            let source = try? JobDraft.source(at: AbsolutePath.of(String(file), in: record.folders.document)),
            !record.source.isEmpty, String(decoding: source.bytes, as: UTF8.self) != record.source
        else { return nil }
        let name = SafeText.line(record.sourceName)
        let advice =
            if isBatch {
                "its batch takes the new one by the same 'pipeline run' with --changed"
            } else if let submitted {
                "'\(Self.command(of: record))' begins the new one, and submits again what \(submitted.words) has submitted"
            } else {
                "the new one begins with '\(Self.command(of: record))'"
            }
        text = "\(name) has changed, and this job keeps the one of before: \(advice)"
    }

    /// The command that begins another job, with the document as it is by then.
    static func command(of record: JobRecord) -> String { "pipeline run \(SafeText.line(record.sourceName))" }

    /// A step of a job whose remote job another job would not take over, but submit once more; nil for none.
    static func submitted(of job: JobSnapshot) -> StepKey? {
        job.submits.filter { key, submit in
            return switch submit.phase {
            case .sending, .submitted, .unknown: true
            case .intent, .refused: false
            }
        }.keys.min { ($0.stage, $0.item ?? 0) < ($1.stage, $1.item ?? 0) }
    }

    func show(on console: Console) { console.note("note: \(text)") }
}
