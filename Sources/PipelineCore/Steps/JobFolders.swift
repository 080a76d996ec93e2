/// The folders that a job's relative paths start from; absolute.
public struct JobFolders: Sendable, Hashable {
    /// The place where the document stands: what it reads is relative to it.
    public let document: String
    /// The place where results go: what it writes is relative to it.
    public let output: String
    /// True in a new job whose document names local files by itself: where machines share a journal it belongs to this one.
    package var namesFiles = false

    /// Two absolute paths.
    public init(document: String, output: String) {
        self.document = document
        self.output = output
    }
}
