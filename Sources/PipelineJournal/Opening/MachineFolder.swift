package import PipelineCore

/// The state folder of a machine whose journal is elsewhere: for what stays on the machine.
package struct MachineFolder {
    private let folder: StateFolder

    package init(_ path: String) { folder = StateFolder(path) }

    /// Makes the folder if need be, with parents; refuses one that is not ours.
    package func prepare() throws(JournalFailure) { try folder.prepareWithoutDatabase() }
}
