import JSONPath
import PipelineCore
import PipelineKit

/// The line for a person who takes up a job, or looks at one, whose document has changed since: the job keeps the one
/// that it was started from.
struct DocumentNote {
    let text: String

    /// Nil where the file says what it said, or can't be read.
    init?(of job: JobSnapshot) {
        let record = job.record
        guard let file = record.sourceName.split(separator: "/").last,
            let source = try? JobDraft.source(at: AbsolutePath.of(String(file), in: record.folders.document)),
            !record.source.isEmpty, String(decoding: source.bytes, as: UTF8.self) != record.source
        else { return nil }
        let name = SafeText.line(record.sourceName)
        let advice =
            if job.batch != nil || record.item != nil {
                "its batch takes the new one by the same 'pipeline run' with --changed"
            } else {
                "'\(Self.command(of: record))' goes on with the new one"
            }
        text = "\(name) has changed, and this job keeps the one of before: \(advice)"
    }

    /// The command that has a job go on with its document as it is by then.
    static func command(of record: JobRecord) -> String { "pipeline retry \(record.id) --changed" }

    func show(on console: Console) { console.note("note: \(text)") }
}
