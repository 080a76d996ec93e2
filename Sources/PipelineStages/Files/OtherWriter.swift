import CLibrary
import PipelineCore

/// Who else has the file that a step would write: that is not to be replaced.
enum OtherWriter: Sendable {
    /// Another step of the job, which has written it.
    case step(StepKey)
    /// Another item of the batch, by its key.
    case item(String)

    /// Returns whether something is there by now: an item has its file as soon as it has learnt the name.
    func hasWritten(_ path: String) -> Bool {
        switch self {
        case .step: true
        case .item: access(path, F_OK) == 0
        }
    }
}

extension StageContext {
    /// Takes a path for the step's result, just before this gets its name there; returns who else has it.
    ///
    /// - Parameter isFolder: whether the result is a folder, which is there for all that is written in it.
    func claimResult(_ path: String, isFolder: Bool = false) async throws(StageFailure) -> OtherWriter? {
        if let step = claim(path, isFolder: isFolder) { return .step(step) }
        return try await otherItem(writing: path, isFolder: isFolder).map { .item($0) }
    }

    private func otherItem(writing path: String, isFolder: Bool) async throws(StageFailure) -> String? {
        guard itemLabel != nil else { return nil }
        let path = Folder.realPath(of: path)
        guard path.utf8.count <= NewItem.longestName else {
            throw .definite(
                StepFailure(
                    "it would write a file whose path has \(path.utf8.count) bytes, and may have \(NewItem.longestName)",
                    hint: "let \"to\" be shorter, for example by slug()", place: facts.place))
        }
        return try await claimForItem(path, isFolder: isFolder)
    }
}
