import CLibrary
import CCurl
import NetworkTasks

/// The thread that owns libcurl: takes commands, lets libcurl work, hands out results, sleeps.
///
/// Everything in it belongs to that thread; other threads reach it through the mailbox only.
final class CurlLoop {
    private let configuration: CurlConfiguration
    private let mailbox: Mailbox<CurlCommand>
    private let multi: UnsafeMutableRawPointer
    private var exchanges: [UInt64: CurlExchange] = [:]
    /// Those who wait for a turn at a service, and have no exchange yet.
    private var turnRequests: [UInt64: TurnRequest] = [:]
    private var spareHandles: [EasyHandle] = []
    private var queue: ExchangeQueue
    /// Those whose turn has come since the last round.
    private var turns: [CurlExchange] = []
    private var idleWatch = StallDetector()
    private var absences = AbsenceMeter(now: MachineClock.monotonic())
    private var throttles: [String: ServiceThrottle] = [:]
    private let backlog = WriteBacklog()
    /// The number of exchanges with large buffers that are with libcurl.
    private var bulkCount = 0
    private var isStopping = false

    private static let maximumSpareHandles = 64
    /// Sleeps no longer than this when nothing is due.
    private static let longestSleep: Duration = .seconds(3600)
    /// Sleeps no longer than this while a transfer may stall.
    private static let longestWatch: Duration = .seconds(1)

    /// Nil when the machine has too little left for it.
    init?(_ configuration: CurlConfiguration, mailbox: Mailbox<CurlCommand>) {
        var configuration = configuration
        configuration.maximumConnections = max(1, min(configuration.maximumConnections, DescriptorBudget.transfers))
        curl_global_init(ccurl_global_defaults())
        // Without the sockets of its own by which others wake it, it would sleep for ever.
        guard let multi = curl_multi_init(), curl_multi_wakeup(multi) == CURLM_OK else {
            curl_global_cleanup()
            return nil
        }
        self.configuration = configuration
        self.mailbox = mailbox
        self.multi = multi
        queue = ExchangeQueue(configuration)
        ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maximumConnections)
        let wakeup = Wakeup(multi: multi)
        mailbox.attach { wakeup.send() }
    }

    /// `curl_multi_wakeup` is the one call that libcurl allows from other threads; the mailbox makes it under its lock
    /// and is closed before the handle goes.
    private struct Wakeup: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer
        func send() { curl_multi_wakeup(multi) }
    }

    /// Works on a thread of its own until a command says stop. While the machine has too little left to begin, exchanges
    /// fail as those that may be tried again.
    static func run(_ configuration: CurlConfiguration, mailbox: Mailbox<CurlCommand>) {
        while true {
            if let loop = CurlLoop(configuration, mailbox: mailbox) { return loop.run() }
            for command in mailbox.takeAll() {
                if case .stop = command {
                    for command in mailbox.close() { command.refuse() }
                    return
                }
                command.refuse { $0.failure(.outOfResources(errno: EMFILE)) }
            }
            usleep(100_000)
        }
    }

    private func run() {
        while true {
            for command in mailbox.takeAll() { execute(command) }
            if isStopping { break }
            beginTurns()
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            writeBacklog()
            handleMessages()
            let due = workUntilSleep()
            let wait = turns.isEmpty ? due : 0
            let start = MachineClock.monotonic()
            curl_multi_poll(multi, nil, 0, wait, nil)
            absences.noteSleep(from: start, to: MachineClock.monotonic(), most: .milliseconds(wait))
        }
        stop()
    }

    /// Does what time has made due, and says for how many milliseconds the thread may sleep.
    private func workUntilSleep() -> Int32 {
        let now = MachineClock.monotonic()
        let absence = absences.absence(at: now)
        if absence > .zero { for exchange in exchanges.values { exchange.liveness.forgive(absence, at: now) } }
        var due = idleWatch.check(exchanges.values, at: now) { end($0, reason: $0.reason(afterSilence: $1)) }
        for throttle in throttles.values {
            if let next = throttle.release(at: now) { due = min(due ?? next, next) }
        }
        takeTurns(at: now)
        if let next = queue.nextTurn { due = min(due ?? next, next) }
        // How much of a sleep that lasted too long was ours is known the better the shorter it was to be.
        let longest = idleWatch.isWatching ? Self.longestWatch : Self.longestSleep
        let sleep = min(longest, max(.zero, (due ?? now + longest) - now))
        return Int32(sleep.wholeMilliseconds + 1)
    }

    private func takeTurns(at now: Duration) {
        while let id = queue.next(at: now) {
            if let exchange = exchanges[id] { turns.append(exchange) }
            turnRequests.removeValue(forKey: id)?.completion.finish(.success(()))
        }
    }

    private func execute(_ command: CurlCommand) {
        switch command {
        case .start(let exchange): start(exchange)
        case .cancel(let id):
            if let exchange = exchanges[id] { end(exchange, reason: .cancelled) }
        case .takeTurn(let request):
            turnRequests[request.id] = request
            let mayGo = queue.enter(
                request.id, origin: URLParts(request.url)?.origin ?? "", limits: request.limits, isTurn: true,
                at: MachineClock.monotonic())
            if mayGo { turnRequests.removeValue(forKey: request.id)?.completion.finish(.success(())) }
        case .endTurn(let id):
            turnRequests.removeValue(forKey: id)?.completion.finish(.failure(.cancelled()))
            queue.leave(id)
            takeTurns(at: MachineClock.monotonic())
        case .stop: isStopping = true
        }
    }

    private func start(_ exchange: CurlExchange) {
        if exchange.completion.isCancelled {
            exchange.completion.finish(.failure(.cancelled()))
            return
        }
        exchange.startedAt = MachineClock.monotonic()
        exchanges[exchange.id] = exchange
        let mayGo = queue.enter(
            exchange.id, origin: URLParts(exchange.hop.request.url)?.origin ?? "",
            limits: exchange.options.turn == nil ? exchange.options.limits : nil, at: exchange.startedAt)
        if mayGo { begin(exchange) }
    }

    private func beginTurns() {
        while !turns.isEmpty {
            let begun = turns
            turns = []
            for exchange in begun where exchanges[exchange.id] != nil { begin(exchange) }
        }
    }

    private func begin(_ exchange: CurlExchange) {
        guard let easy = spareHandles.popLast() ?? EasyHandle() else {
            return release(exchange, .failure(exchange.failure(.outOfResources(errno: ENOMEM))))
        }
        exchange.easy = easy
        if exchange.allotment.isBulk { bulkCount += 1 }
        exchange.allotment.sharers = max(1, bulkCount)
        exchange.allotment.backlog = backlog
        // Waiting for a turn uses up no time of the exchange's own.
        exchange.startedAt = MachineClock.monotonic()
        if let limits = exchange.options.limits { exchange.allotment.throttle = throttle(for: limits) }
        send(exchange)
    }

    /// Returns what the exchanges of a service share, from its first one on; nil for one without rates.
    private func throttle(for limits: ServiceLimits) -> ServiceThrottle? {
        let known = throttles[limits.service]
        known?.adopt(limits)
        guard known == nil, limits.sendRate != nil || limits.receiveRate != nil else { return known }
        let throttle = ServiceThrottle(limits)
        throttles[limits.service] = throttle
        return throttle
    }

    /// Puts the exchange's current hop on its way.
    private func send(_ exchange: CurlExchange) {
        if let reason = exchange.prepare(configuration) {
            return release(exchange, .failure(exchange.failure(reason)))
        }
        guard let easy = exchange.easy else { return }
        curl_multi_add_handle(multi, easy.pointer)
        exchange.liveness.window = nil
        idleWatch.add(exchange.options, sendsBody: !exchange.hop.request.body.isNone)
    }

    /// Nothing more is there to read for now: what was gathered goes to its files.
    private func writeBacklog() {
        for exchange in backlog.takeAll() where exchanges[exchange.id] != nil && !exchange.hop.receiver.flush() {
            // Where the sink wanted it to end is an end like any other.
            let reason = exchange.hop.receiver.failure
            if let easy = exchange.easy { curl_multi_remove_handle(multi, easy.pointer) }
            release(exchange, reason.map { .failure(exchange.failure($0)) } ?? .success(exchange.response()))
        }
    }

    private func handleMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = ccurl_message_result(message)
            var context: UnsafeMutableRawPointer?
            ccurl_get_pointer(easy, CURLINFO_PRIVATE, &context)
            guard let context else { continue }
            let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
            curl_multi_remove_handle(multi, easy)
            finish(exchange, code: code)
        }
    }

    private func finish(_ exchange: CurlExchange, code: CURLcode) {
        switch exchange.conclude(code) {
        case .follow:
            queue.countFurtherRequest(exchange.options.limits?.service, at: MachineClock.monotonic())
            send(exchange)
        case .end(let result): release(exchange, result)
        }
    }

    /// Ends an exchange that waits for its turn or is with libcurl.
    private func end(_ exchange: CurlExchange, reason: ExchangeFailure.Reason) {
        if let easy = exchange.easy { curl_multi_remove_handle(multi, easy.pointer) }
        release(exchange, .failure(exchange.failure(reason)))
    }

    private func release(_ exchange: CurlExchange, _ result: Result<HTTPExchangeResponse, ExchangeFailure>) {
        exchanges[exchange.id] = nil
        if let easy = exchange.easy {
            if exchange.allotment.isBulk { bulkCount -= 1 }
            easy.reset()
            if spareHandles.count < Self.maximumSpareHandles { spareHandles.append(easy) }
        }
        exchange.easy = nil
        exchange.releaseResources()
        exchange.completion.finish(result)
        queue.leave(exchange.id)
        takeTurns(at: MachineClock.monotonic())
    }

    private func stop() {
        let unread = mailbox.close()
        for exchange in Array(exchanges.values) { end(exchange, reason: .cancelled) }
        for command in unread { command.refuse() }
        for request in turnRequests.values { request.completion.finish(.failure(.cancelled())) }
        spareHandles = []
        curl_multi_cleanup(multi)
        curl_global_cleanup()
    }
}
