import Synchronization

/// The working side of a ``NetworkTask``: reports progress, learns of a cancellation, and produces the value.
public struct NetworkTaskCompletion<Value: Sendable, Failure: Error>: Sendable {
    /// The task that is fulfilled.
    public let task: NetworkTask<Value, Failure>

    init(task: NetworkTask<Value, Failure>) {
        self.task = task
    }

    /// True once somebody asked the work to end.
    public var isCancelled: Bool { task.isCancelled }

    /// Sets what a cancellation does; called at most once, on the thread that cancels, at once if that came first.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isLate = task.state.withLock { state in
            if state.cancelRequested { return true }
            if state.result == nil { state.cancelHandler = handler }
            return false
        }
        if isLate { handler() }
    }

    /// Replaces the progress that readers see.
    public func report(_ progress: TransferProgress) {
        task.state.withLock { $0.progress = progress }
    }

    /// Produces the value. The first call counts; later ones change nothing and return false.
    @discardableResult
    public func finish(_ result: Result<Value, Failure>) -> Bool {
        let readers: [CheckedContinuation<Result<Value, Failure>, Never>]? = task.state.withLock { state in
            guard state.result == nil else { return nil }
            state.result = result
            state.cancelHandler = nil
            defer { state.readers = [] }
            return state.readers
        }
        guard let readers else { return false }
        for reader in readers { reader.resume(returning: result) }
        return true
    }
}
