import ArgumentParser
import PipelineCore
import PipelineKit

/// The jobs that a command is about; the newest when none is named.
struct NamedJob: ParsableArguments {
    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String] = ["last"]

    /// Does the work with each of the jobs, as ``NamedJobs/forEach(in:_:item:_:)`` does.
    func forEach(
        in journal: Workspace.Journal, _ console: Console,
        item: ((ItemRecord, JobRecord) async throws -> Void)? = nil, _ work: (OwnedJob) async throws -> Void
    ) async -> ExitStatus {
        await NamedJobs(jobs).forEach(in: journal, console, item: item, work)
    }
}

/// The jobs that a command is about, at least one.
struct NamedJobs: ParsableArguments {
    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String]

    init() {}
    init(_ jobs: [String]) { self.jobs = jobs }

    /// Does the work with each of the jobs; one for which it fails is told, and the others have their turn.
    ///
    /// - Parameter item: done with an item that was not begun, and its batch; nil where such a one is no job.
    func forEach(
        in journal: Workspace.Journal, _ console: Console,
        item: ((ItemRecord, JobRecord) async throws -> Void)? = nil, _ work: (OwnedJob) async throws -> Void
    ) async -> ExitStatus {
        var statuses: [ExitStatus] = []
        for name in jobs {
            do {
                if let item, let (found, batch) = try await JobName(name).itemWithoutJob(in: journal) {
                    try await item(found, batch)
                } else {
                    try await work(try await JobName(name).find(in: journal))
                }
                statuses.append(.succeeded)
            } catch {
                statuses.append(ErrorReport(error).show(on: console))
            }
        }
        return ExitStatus.combined(statuses)
    }
}
