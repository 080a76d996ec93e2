/// Something that should never happen and did: a mistake in this program, never in a document or at a service.
public struct AssertionFailure: Sendable, Hashable {
    /// One sentence that says what happened. It holds no secret: who reports it has redacted it.
    public var message: String
    /// The source file, `MODULE/FILE.swift`.
    public var file: String
    /// The line in the file, from 1.
    public var line: Int
    /// The id of the job that it happened to; nil outside of one.
    public var job: String?
    /// The step, as messages name it; nil outside of one.
    public var step: String?

    /// Describes what should never have happened; `job` and `step` where one of them was at work.
    public init(message: String, file: String, line: Int, job: String? = nil, step: String? = nil) {
        self.message = message
        self.file = file
        self.line = line
        self.job = job
        self.step = step
    }
}
