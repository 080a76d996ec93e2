/// All of a job that others than its owner write.
public struct JobInbox: Sendable, Hashable {
    /// What a person asked for and is not yet done.
    public let request: JobRequest?
    public let pushes: [StepKey: CallbackCount]

    public init(request: JobRequest?, pushes: [StepKey: CallbackCount]) {
        self.request = request
        self.pushes = pushes
    }
}
