import CLibrary
import PipelineCore

/// The names under which a step keeps what it receives until it is whole: `TO.part`, or one that no other has.
///
/// A part that another job left, a whole result that waits there for its name, and a file of the user's with that name
/// are never replaced: what is not the step's own has it take its own name.
struct PartName: Sendable {
    let label: PartLabel
    /// What comes behind the path of the file in the step's own name.
    private let own: String

    private static let usual = ".part"

    /// - Parameter item: ``JobRecord/itemLabel``.
    init(_ step: StepKey, of job: JobID, item: String?) {
        label = PartLabel(step, of: job)
        let words = [item ?? job.text, step.stage, step.item.map { "\($0)" }].compactMap(\.self)
        own = ".\(words.joined(separator: "-"))\(Self.usual)"
    }

    /// The path of the part of a file that is to stand under `target`.
    ///
    /// - Parameter isBegun: whether the step has a part of it, as its checkpoint says.
    func path(for target: String, isBegun: Bool) -> String {
        let (own, usual) = (ownPath(for: target), target + Self.usual)
        return access(own, F_OK) == 0 || isForeign(usual, isBegun: isBegun) ? own : usual
    }

    /// The path that no other step has.
    func ownPath(for target: String) -> String { target + own }

    /// Returns whether another's file stands there, or what is no file. One without a label may be the part that a step has
    /// begun: those of version 0.1.0 have none, nor have copies and files of some file systems. Its content tells; and one
    /// that is empty may have been made by a step that was killed before it gave it its label.
    func isForeign(_ path: String, isBegun: Bool) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFREG else { return true }
        return PartLabel(ofFileAt: path).map { $0 != label } ?? (!isBegun && status.st_size > 0)
    }
}
