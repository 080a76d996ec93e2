import JSONPath
import PipelineCore
import PipelineKit

/// How a person names a job: an id, a unique prefix of one, `--key`'s key, or `last`.
struct JobName {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The job; an error that says what there is when none or several fit.
    func find(in journal: Workspace.Journal) async throws -> OwnedJob {
        if text == "last" {
            if let newest = try await journal.jobs(JobQuery(limit: 1)).first { return newest }
            throw CommandError(.usage, "there are no jobs yet", hint: "start one with 'pipeline run FILE'")
        }
        if let exact = try await journal.jobs(JobQuery(key: text)).first { return exact }
        let found = text.isEmpty ? [] : try await journal.jobs(JobQuery(prefix: text.lowercased(), limit: 10))
        if found.count == 1 { return found[0] }
        if found.isEmpty {
            throw CommandError(.usage, "there is no job '\(text)'", hint: "'pipeline list' shows all jobs")
        }
        let ids = found.map(\.snapshot.record.id.text).joined(separator: ", ")
        throw CommandError(.usage, "several jobs start with '\(text)'", hint: "type more of one of \(ids)")
    }
}

extension Workspace {
    /// The journal, for commands that name a job; an error that says so when nothing was ever kept.
    func journalWithJobs() throws -> Journal {
        guard let journal = try existingJournal() else {
            throw CommandError(
                .usage, "there are no jobs in \(settings.stateFolder)", hint: "start one with 'pipeline run FILE'")
        }
        return journal
    }
}
