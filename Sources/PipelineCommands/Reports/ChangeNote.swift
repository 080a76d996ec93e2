import JSONPath
import PipelineCore
import PipelineKit
import PipelineStages

/// A line for a person who takes up a job, or looks at one, of something on this machine that has changed since the job
/// used it, and that the job goes on without.
struct ChangeNote {
    /// What has changed: `document` or `file`.
    let subject: String
    let text: String

    /// - Parameter begunAnew: the stages that begin as if they had never run: they send their files as these are by then.
    static func all(of job: JobSnapshot, begunAnew: Set<String>) -> [ChangeNote] {
        [document(of: job), file(of: job, begunAnew: begunAnew)].compactMap(\.self)
    }

    /// Those for who looks at a job: what cleans up begins as if it had never run. Of files that are on another machine nothing
    /// is known here, and a job that runs, or has to be resolved first, begins nothing again.
    static func all(
        of found: OwnedJob, _ plan: Plan?, in journal: Workspace.Journal
    ) async throws -> [ChangeNote] {
        let isElsewhere = try await found.otherMachine(in: journal) != nil
        if isElsewhere || found.owner != nil || found.phase == .unknown {
            return [document(of: found.snapshot)].compactMap(\.self)
        }
        return all(of: found.snapshot, begunAnew: plan.map { RestartScope.failed.begunAnew(in: $0) } ?? [])
    }

    /// The document: the job keeps the one that it was started from. Nil where the file says what it said, or can't be read.
    private static func document(of job: JobSnapshot) -> ChangeNote? {
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
        return ChangeNote(
            subject: "document", text: "\(name) has changed, and this job keeps the one of before: \(advice)")
    }

    /// A file that has been sent: what it was is at the service. Nil where none is another one by now.
    static func file(of job: JobSnapshot, begunAnew: Set<String>) -> ChangeNote? {
        let changed = SentFile.all(of: job).filter { file in
            guard !begunAnew.contains(file.stage), let now = SourceFingerprint.sharedText(ofFileAt: file.path) else {
                return false
            }
            // By machines that share the file; what follows the dot is each one's own.
            return !file.fingerprint.hasPrefix(now + ".")
        }
        guard let first = changed.first else { return nil }
        let others = changed.count > 1 ? " (and \(changed.count - 1) more)" : ""
        return ChangeNote(
            subject: "file",
            text:
                "\(SafeText.line(first.path))\(others) has changed since stage '\(first.stage)' sent it, and this job goes on "
                + "with what was sent: 'pipeline retry \(job.record.id) --from \(first.stage)' sends it as it is now")
    }

    /// The command that has a job go on with its document as it is by then.
    static func command(of record: JobRecord) -> String { "pipeline retry \(record.id) --changed" }

    func show(on console: Console) { console.note("note: \(text)") }
}
