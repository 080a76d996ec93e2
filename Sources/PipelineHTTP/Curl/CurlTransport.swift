import CCurl
import CLibrary
public import NetworkTasks
import Synchronization

/// HTTP on libcurl: one thread owns a `curl_multi` and carries any number of exchanges.
///
/// The thread starts with the first exchange, which opens libcurl too, so that a program that sends nothing pays nothing.
/// Without libcurl exchanges fail as those do that the machine has too little for (``ExchangeFailure/noLibrary``). All
/// callbacks of ``ExchangeOptions`` run on that thread. When the last reference to the transport goes, it shuts down.
public final class CurlTransport: Transport {
    private struct State: Sendable {
        var lastID: UInt64 = 0
        var isRunning = false
    }

    private let configuration: CurlConfiguration
    private let mailbox = Mailbox<CurlCommand>()
    private let state = Mutex(State())

    /// Starts the thread that all transfers run on. `shutdown()` ends it.
    public init(_ configuration: CurlConfiguration = CurlConfiguration()) {
        self.configuration = configuration
    }

    deinit {
        shutdown()
    }

    /// Starts a request. May be called on any thread and returns at once; the task ends exactly once.
    public func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        let (id, isRunning) = nextID()
        let (task, completion) = ExchangeTask.make(id: id)
        let built: RequestDescription
        do {
            built = try RequestBuilder().finished(request)
        } catch {
            completion.finish(.failure(ExchangeFailure(error)))
            return task
        }
        let exchange = CurlExchange(built, options: options, completion: completion)
        guard isRunning else {
            let lack = ccurl_open() == 0 ? ExchangeFailure.noLibrary : EAGAIN
            completion.finish(.failure(exchange.failure(.outOfResources(errno: lack))))
            return task
        }
        guard mailbox.post(.start(exchange)) else {
            completion.finish(.failure(.cancelled()))
            return task
        }
        let mailbox = mailbox
        completion.onCancel { _ = mailbox.post(.cancel(id)) }
        return task
    }

    /// Waits for a turn among all exchanges that name the same service.
    public func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? {
        guard limits.connections != nil || limits.requestsPerSecond != nil else { return nil }
        let (id, isRunning) = nextID()
        // The exchange itself says why there is no thread.
        guard isRunning else { return nil }
        let (task, completion) = NetworkTask<Void, ExchangeFailure>.make(id: id)
        let mailbox = mailbox
        guard mailbox.post(.takeTurn(TurnRequest(url: url, limits: limits, completion: completion))) else {
            throw .cancelled()
        }
        // From here on, however the waiting ends.
        let turn = ServiceTurn { _ = mailbox.post(.endTurn(id)) }
        completion.onCancel { _ = mailbox.post(.endTurn(id)) }
        try await task.value
        return turn
    }

    /// Cancels everything under way and ends the thread; later exchanges fail as cancelled. Returns at once.
    public func shutdown() {
        let isRunning = state.withLock { $0.isRunning }
        if isRunning {
            _ = mailbox.post(.stop)
        } else {
            for command in mailbox.close() { command.refuse() }
        }
    }

    /// An id, and whether there is a thread; the next exchange tries again to start one that could not be.
    private func nextID() -> (id: UInt64, isRunning: Bool) {
        state.withLock { state in
            state.lastID += 1
            if !state.isRunning { state.isRunning = startThread() }
            return (state.lastID, state.isRunning)
        }
    }

    private func startThread() -> Bool {
        guard ccurl_open() != 0 else { return false }
        let (configuration, mailbox) = (configuration, mailbox)
        return OwnThread.start { CurlLoop.run(configuration, mailbox: mailbox) }
    }
}
