import PipelineCore
import PipelineKit

extension OwnedJob {
    /// The other machine that has the files of the job or batch; nil where they are on this one, or it has none.
    func otherMachine(in journal: Workspace.Journal) async throws -> String? {
        guard let shared = journal.shared else { return nil }
        return try await shared.host(of: snapshot.record.id).flatMap { $0 == shared.host ? nil : $0 }
    }

    /// Advice to go on with a job or batch that nobody has, with the machine where it has to be typed. What somebody takes up
    /// without being told needs none, and what is unknown is resolved anywhere.
    func placed(_ advice: String?, in journal: Workspace.Journal) async throws -> String? {
        guard owner == nil, !isToBeTaken, phase == .suspended || phase == .failed,
            let host = try await otherMachine(in: journal)
        else { return advice }
        return [advice, "on \(host), which has its files, or with --detach"].compactMap(\.self).joined(separator: "; ")
    }

    /// Throws where nobody has the job or batch and its files are on another machine: what stands under their paths on this
    /// one is not what they name.
    ///
    /// - Parameters:
    ///   - again: what begins again; what begins from a stage is handed over to nobody.
    ///   - hint: what else to do than to give the command there; nil for handing the job over.
    func checkMachine(
        in journal: Workspace.Journal, again: RestartScope = .nothing, hint: String? = nil
    ) async throws {
        guard owner == nil, let host = try await otherMachine(in: journal) else { return }
        let record = snapshot.record
        let name = snapshot.batch == nil ? "job \(record.id)" : "batch '\(record.key)'"
        let isFromStage = if case .from = again { true } else { false }
        let handover = isFromStage ? nil : "with --detach: a worker of that machine goes on with it"
        let hints = ["give the command there", hint ?? handover].compactMap(\.self)
        throw CommandError(
            .usage, "the files of \(name) are on another machine: \(host)", hint: hints.joined(separator: ", or "))
    }
}
