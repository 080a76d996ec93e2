import JSONPath

/// The facts that are known when a job starts, before it is journaled.
public struct JobStart: Sendable {
    /// Inputs, environment and the job itself: no captures, no secrets.
    public internal(set) var known: Scope
    /// The folders that paths are relative to.
    public let folders: JobFolders
    /// True if no stage before the one that is asked writes files: then a file that is missing is still so by the time it
    /// runs.
    public internal(set) var isBeforeWrites = false
    /// True if the person lets existing files be replaced.
    public let overwrites: Bool
    /// The files that earlier jobs of the pipeline wrote at a path, as far as it is remembered.
    public let written: @Sendable (String) async -> [WrittenFile]

    package init(
        known: Scope, folders: JobFolders, overwrites: Bool,
        written: @escaping @Sendable (String) async -> [WrittenFile] = { _ in [] }
    ) {
        self.known = known
        self.folders = folders
        self.overwrites = overwrites
        self.written = written
    }

    /// Returns whether the values of all these references are known.
    package func knows(_ references: [Reference]) -> Bool {
        references.allSatisfy { reference in
            switch reference.root {
            case .input(let name): known.inputs[name] != nil
            case .item, .index: known.item != nil
            case .environment: true
            case .job: known.job != nil
            default: false
            }
        }
    }
}
