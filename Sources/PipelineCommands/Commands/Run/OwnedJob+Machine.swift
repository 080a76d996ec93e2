import PipelineCore
import PipelineKit

extension OwnedJob {
    /// Throws where nobody has the job or batch and its files are on another machine: what stands under their paths on this
    /// one is not what they name.
    ///
    /// - Parameter hint: what else to do than to give the command there; nil for handing the job over.
    func checkMachine(in journal: Workspace.Journal, hint: String? = nil) async throws {
        let record = snapshot.record
        guard owner == nil, let shared = journal as? any SharedJournal,
            let host = try await shared.host(of: record.id), host != shared.host
        else { return }
        let name = snapshot.batch == nil ? "job \(record.id)" : "batch '\(record.key)'"
        throw CommandError(
            .usage, "the files of \(name) are on another machine: \(host)",
            hint: "give the command there, or " + (hint ?? "with --detach: a worker of that machine goes on with it"))
    }
}
