/// All of a job that others than its owner write.
public struct JobInbox: Sendable, Hashable {
    /// The request of a person that is not yet done.
    package let request: JobRequest?
    package let pushes: [StepKey: CallbackCount]

    package init(request: JobRequest?, pushes: [StepKey: CallbackCount]) {
        self.request = request
        self.pushes = pushes
    }
}
