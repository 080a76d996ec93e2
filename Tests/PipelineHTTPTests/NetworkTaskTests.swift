import NetworkTasks
import PipelineTestKit
import Synchronization
import Testing

@Suite("A network task")
struct NetworkTaskTests {
    struct Broken: Error, Equatable {}
    typealias Pair = NetworkTask<Int, Broken>

    @Test("its value comes once, to all who await it")
    func once() async throws {
        let (task, completion) = Pair.make(id: 7)
        async let first = task.value
        async let second = task.value
        #expect(completion.finish(.success(1)))
        #expect(!completion.finish(.success(2)))
        #expect(!completion.finish(.failure(Broken())))
        #expect(try await [first, second, task.value] == [1, 1, 1])
        #expect(task.id == 7)
        #expect(task.isFinished)
    }

    @Test("a handler set after the cancellation is called at once")
    func lateHandler() {
        let (task, completion) = Pair.make(id: 1)
        let calls = Mutex(0)
        task.cancel()
        #expect(completion.isCancelled)
        completion.onCancel { calls.withLock { $0 += 1 } }
        task.cancel()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("a handler is called once, however often it is cancelled, and never after the end")
    func handlerOnce() {
        let calls = Mutex(0)
        let (running, completion) = Pair.make(id: 1)
        completion.onCancel { calls.withLock { $0 += 1 } }
        running.cancel()
        running.cancel()
        #expect(calls.withLock { $0 } == 1)
        let (ended, other) = Pair.make(id: 2)
        other.onCancel { calls.withLock { $0 += 1 } }
        other.finish(.failure(Broken()))
        ended.cancel()
        #expect(calls.withLock { $0 } == 1)
        #expect(!ended.isCancelled)
    }

    @Test("progress is a snapshot")
    func progress() {
        let (task, completion) = Pair.make(id: 1)
        #expect(task.progress == TransferProgress())
        completion.report(TransferProgress(sent: 5, received: 1, sendTotal: 10, receiveTotal: nil))
        #expect(task.progress.sent == 5)
        #expect(task.progress.sendTotal == 10)
    }

    @Test("cancelling who awaits cancels the task, and the value still comes")
    func awaitingCancelled() async {
        let (task, completion) = Pair.make(id: 1)
        completion.onCancel { completion.finish(.failure(Broken())) }
        let reader = Task { await task.result }
        reader.cancel()
        #expect(await reader.value == .failure(Broken()))
    }
}
