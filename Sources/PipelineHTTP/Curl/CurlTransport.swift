public import NetworkTasks
import Synchronization

/// HTTP on libcurl: one thread owns a `curl_multi` and carries any number of exchanges.
///
/// The thread starts with the first exchange, and libcurl is initialised on it, so that a program that sends nothing
/// pays nothing. All callbacks of ``ExchangeOptions`` run on that thread. When the last reference to the transport goes,
/// it shuts down.
public final class CurlTransport: Transport {
    private struct State: Sendable {
        var lastID: UInt64 = 0
        var isRunning = false
    }

    private let configuration: CurlConfiguration
    private let mailbox = Mailbox<CurlCommand>()
    private let state = Mutex(State())

    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
    }

    deinit {
        shutdown()
    }

    public func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        let (task, completion) = ExchangeTask.make(id: nextID())
        let built: RequestDescription
        do {
            built = try RequestBuilder().finished(request)
        } catch {
            completion.finish(.failure(ExchangeFailure(error)))
            return task
        }
        let exchange = CurlExchange(built, options: options, completion: completion)
        guard mailbox.post(.start(exchange)) else {
            completion.finish(.failure(.cancelled()))
            return task
        }
        let (mailbox, id) = (mailbox, task.id)
        completion.onCancel { _ = mailbox.post(.cancel(id)) }
        return task
    }

    /// Cancels everything under way and ends the thread; later exchanges fail as cancelled. Returns at once.
    public func shutdown() {
        let isRunning = state.withLock { $0.isRunning }
        if isRunning {
            _ = mailbox.post(.stop)
        } else {
            for case .start(let exchange) in mailbox.close() { exchange.completion.finish(.failure(.cancelled())) }
        }
    }

    private func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            if !state.isRunning {
                state.isRunning = true
                startThread()
            }
            return state.lastID
        }
    }

    private func startThread() {
        let (configuration, mailbox) = (configuration, mailbox)
        OwnThread.start {
            let loop = CurlLoop(configuration, mailbox: mailbox)
            loop.run()
        }
    }
}
