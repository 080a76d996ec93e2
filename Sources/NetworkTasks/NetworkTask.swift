import Synchronization

/// The handle of something under way: an id, its progress, `cancel()` at any time, and one value.
///
/// Whoever does the work holds the ``NetworkTaskCompletion`` that was made with it; everybody else sees only this side.
/// The value is produced exactly once. It arrives when the work has really ended: after it, nothing of the work touches
/// a file, a buffer or a callback any more, also when it was cancelled.
public final class NetworkTask<Value: Sendable, Failure: Error>: Sendable {
    /// Tells tasks of one maker apart; numbers rise in the order of the starts.
    public let id: UInt64

    let state: Mutex<State>

    struct State: Sendable {
        var progress = TransferProgress()
        var cancelRequested = false
        var cancelHandler: (@Sendable () -> Void)?
        var result: Result<Value, Failure>?
        var readers: [CheckedContinuation<Result<Value, Failure>, Never>] = []
    }

    init(id: UInt64) {
        self.id = id
        self.state = Mutex(State())
    }

    /// Makes a task together with the side that fulfils it.
    public static func make(id: UInt64) -> (task: NetworkTask, completion: NetworkTaskCompletion<Value, Failure>) {
        let task = NetworkTask(id: id)
        return (task, NetworkTaskCompletion(task: task))
    }

    /// The progress so far; a snapshot, from any thread.
    public var progress: TransferProgress {
        state.withLock { $0.progress }
    }

    /// True once `cancel()` was called, whatever became of it.
    public var isCancelled: Bool {
        state.withLock { $0.cancelRequested }
    }

    /// True once the value has been produced.
    public var isFinished: Bool {
        state.withLock { $0.result != nil }
    }

    /// Asks the work to end, from any thread, at any time, any number of times.
    ///
    /// Before the start the work never starts; while it runs it ends soon, and the value is the maker's failure for a
    /// cancelled task; after the end nothing changes.
    public func cancel() {
        let handler: (@Sendable () -> Void)? = state.withLock { state in
            guard !state.cancelRequested, state.result == nil else { return nil }
            state.cancelRequested = true
            defer { state.cancelHandler = nil }
            return state.cancelHandler
        }
        handler?()
    }

    /// The value, as soon as there is one; any number of readers may await it.
    ///
    /// If the Swift task that awaits is cancelled, this task is cancelled too; its value still says how it ended.
    public var value: Value {
        get async throws(Failure) {
            try await result.get()
        }
    }

    /// The value or the failure, without throwing: for groups and tables of outcomes.
    public var result: Result<Value, Failure> {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { reader in
                    let known: Result<Value, Failure>? = state.withLock { state in
                        if state.result == nil { state.readers.append(reader) }
                        return state.result
                    }
                    if let known { reader.resume(returning: known) }
                }
            } onCancel: {
                cancel()
            }
        }
    }
}
