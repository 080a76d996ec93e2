import HTTPTypes
import NetworkTasks
package import PipelineHTTP
import Synchronization

/// A transport that asks a closure for each answer: no sockets, no threads, no time.
///
/// It carries out the receiving half as the real one does: sinks decide and write, progress is reported, `onSent` is
/// called before the closure, cancelling gives the failure of a cancelled exchange.
package final class ScriptedTransport: Transport {
    /// Gives the answer to a request, or the failure. May call the options' `onInformational`.
    package typealias Script =
        @Sendable (RequestDescription, ExchangeOptions) async throws(ExchangeFailure) -> HTTPExchangeResponse

    private struct State: Sendable {
        var lastID: UInt64 = 0
        var requests: [RequestDescription] = []
    }

    private let script: Script
    private let state = Mutex(State())

    package init(_ script: @escaping Script) {
        self.script = script
    }

    /// All requests that were started, in their order.
    package var requests: [RequestDescription] { state.withLock { $0.requests } }

    package func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        let id = state.withLock { state in
            state.lastID += 1
            state.requests.append(request)
            return state.lastID
        }
        let (task, completion) = ExchangeTask.make(id: id)
        let script = script
        let work = Task {
            do throws(ExchangeFailure) {
                options.onSent?()
                let answer = try await script(request, options)
                if Task.isCancelled { throw .cancelled(connectionMade: true) }
                completion.finish(.success(try Self.deliver(answer, to: request, options, completion)))
            } catch {
                completion.finish(.failure(Task.isCancelled ? .cancelled(connectionMade: true) : error))
            }
        }
        completion.onCancel { work.cancel() }
        return task
    }

    private static func deliver(
        _ answer: HTTPExchangeResponse, to request: RequestDescription, _ options: ExchangeOptions,
        _ completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    ) throws(ExchangeFailure) -> HTTPExchangeResponse {
        let delivered = try answer.delivered(for: request, options)
        let progress = TransferProgress(
            sent: delivered.bytesSent, received: delivered.bytesReceived, sendTotal: delivered.bytesSent,
            receiveTotal: delivered.bytesReceived
        )
        completion.report(progress)
        options.onProgress?(progress)
        return delivered
    }
}
