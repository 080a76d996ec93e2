import JSONPath
import PipelineCore
import PipelineKit

/// The name by which a person means a job: an id, a unique prefix of one, `--key`'s key, or `last`.
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
        if let item = try await item(in: journal) { return item }
        let found = text.isEmpty ? [] : try await journal.jobs(JobQuery(prefix: text.lowercased(), limit: 10))
        if found.count == 1 { return found[0] }
        if found.isEmpty {
            throw CommandError(.usage, "there is no job '\(text)'", hint: "'pipeline list' shows all jobs")
        }
        let ids = found.map(\.snapshot.record.id.text).joined(separator: ", ")
        throw CommandError(.usage, "several jobs start with '\(text)'", hint: "type more of one of \(ids)")
    }
}

extension JobName {
    /// The item of `BATCH/ITEM`, or of `BATCH.N`, that has no job, and its batch; nil for any other name.
    func itemWithoutJob(in journal: Workspace.Journal) async throws -> (item: ItemRecord, batch: JobRecord)? {
        if let (item, batch) = try await numberedItem(in: journal) { return (item, batch) }
        guard let slash = text.firstIndex(of: "/"), slash != text.startIndex,
            let batch = try? await JobName(String(text[..<slash])).find(in: journal).snapshot.record,
            let item = try await journal.item(String(text[text.index(after: slash)...]), of: batch.id),
            item.job == nil, try await begun(item, of: batch, in: journal) == nil
        else { return nil }
        return (item, batch)
    }

    /// The item whose job is to have this key, `BATCH.N`, and its batch; nil once there is a job of that key.
    private func numberedItem(in journal: Workspace.Journal) async throws -> (item: ItemRecord, batch: JobRecord)? {
        guard let dot = text.lastIndex(of: "."), let number = Int(text[text.index(after: dot)...]), number > 0,
            text.hasSuffix(".\(number)"), try await journal.jobs(JobQuery(key: text)).isEmpty,
            let batch = try await journal.jobs(JobQuery(key: String(text[..<dot]))).first?.snapshot.record,
            let item = try await journal.items(of: batch.id, in: nil, after: number - 1, limit: 1).first,
            item.number == number, item.job == nil
        else { return nil }
        return (item, batch)
    }

    /// The job of `BATCH/ITEM`, parted at the first slash: an item is named by its key or its number. Nil for a name
    /// without a slash.
    private func item(in journal: Workspace.Journal) async throws -> OwnedJob? {
        if let (item, batch) = try await numberedItem(in: journal) { throw Self.hasNoJob(item, of: batch) }
        guard let slash = text.firstIndex(of: "/") else { return nil }
        let (name, key) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
        let batch = try await JobName(name).find(in: journal).snapshot.record
        guard let item = try await journal.item(key, of: batch.id) else {
            throw CommandError(
                .usage, "the batch '\(batch.key)' has no item '\(key)'", hint: Self.hint(about: batch))
        }
        if let job = item.job, let found = try await journal.jobs(JobQuery(prefix: job.text)).first { return found }
        // One that has just begun is known by its key before its row says so.
        if let found = try await begun(item, of: batch, in: journal) { return found }
        throw Self.hasNoJob(item, of: batch)
    }

    private static func hasNoJob(_ item: ItemRecord, of batch: JobRecord) -> CommandError {
        CommandError(
            .usage,
            "the item '\(item.key)' has no job: "
                + (item.failure?.failure.title ?? "it is \(item.state.rawValue)"), hint: hint(about: batch))
    }

    private static func hint(about batch: JobRecord) -> String {
        "'pipeline list --items \(batch.key)' shows the items"
    }

    /// The job that has the key of an item's; nil if that one is none of the batch.
    private func begun(
        _ item: ItemRecord, of batch: JobRecord, in journal: Workspace.Journal
    ) async throws -> OwnedJob? {
        try await journal.jobs(JobQuery(key: "\(batch.key).\(item.number)")).first {
            $0.snapshot.record.item?.batch == batch.id
        }
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
