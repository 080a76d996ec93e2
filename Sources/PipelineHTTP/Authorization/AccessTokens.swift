import HTTPTypes
import NetworkTasks
import Synchronization

/// The access tokens of one process: one for each grant, asked for once however many requests wait for it, renewed
/// before it expires, and kept nowhere but in memory.
public final class AccessTokens: Sendable {
    private typealias ServiceResponse = Result<AccessToken, ExchangeFailure>

    private struct Entry {
        var token: AccessToken?
        /// The request for a token that is under way.
        var fetch: Fetch?
        var waiters: [UInt64: CheckedContinuation<ServiceResponse, Never>] = [:]
        /// The way in which this client says who it is, once one way has worked.
        var authentication: TokenGrant.Authentication?
        /// The time for which the endpoint wants to be left alone.
        var pause: Pause?
    }

    /// An answer by which an endpoint wants to be left alone: nobody asks it for that long.
    private struct Pause {
        let answer: ExchangeFailure
        let status: Int
        let wait: Duration
        let end: Duration

        /// Nil for a failure that says of no time.
        init?(_ answer: ExchangeFailure, now: Duration) {
            guard case .tokenUnavailable(let status, let wait?) = answer.reason else { return nil }
            self.answer = answer
            self.status = status
            self.wait = wait
            end = now + wait
        }

        /// The failure as it is for who wants a token at that time; nil for one that may ask.
        func failure(now: Duration) -> ExchangeFailure? {
            let left = end - now
            // A clock that was set back makes the wait no longer.
            guard left > .zero, left <= wait else { return nil }
            var failure = answer
            failure.reason = .tokenUnavailable(status: status, retryAfter: left)
            return failure
        }
    }

    private struct Fetch {
        /// That of the waiter that began it.
        let number: UInt64
        let task: Task<Void, Never>
        /// True once a refresh token may have been sent, which is worth nothing when another comes back.
        var isSpending = false
    }

    private struct State {
        var entries: [TokenSource: Entry] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let transport: any Transport
    private let time: @Sendable () -> Duration
    private let refreshTokens: (any RefreshTokenStore)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: sends the requests for tokens.
    ///   - time: the time since 1 January 1970 UTC.
    ///   - refreshTokens: keeps refresh tokens over the end of the process; without it they are in memory alone.
    public init(
        transport: any Transport, time: @escaping @Sendable () -> Duration = DecorationContext.systemTime,
        refreshTokens: (any RefreshTokenStore)? = nil
    ) {
        self.transport = transport
        self.time = time
        self.refreshTokens = refreshTokens
    }

    /// A token of the source. Cancelling the Swift task that awaits gives up only this wait.
    ///
    /// - Parameters:
    ///   - refused: a token that a service did not take: it is not given again.
    ///   - options: of the request that the token is for; its proxy and authorities hold for the endpoint too.
    public func token(
        from source: TokenSource, insteadOf refused: String? = nil, options: ExchangeOptions = ExchangeOptions()
    ) async throws(ExchangeFailure) -> String {
        let known = state.withLock { $0.entries[source]?.token }
        if let known, known.serves(insteadOf: refused, now: time()) { return known.text }
        switch await fetched(source, insteadOf: refused, options) {
        case .success(let token): return token.text
        case .failure(let failure):
            // A renewal ahead of time that fails costs nothing while the old token is good.
            if let known, known.text != refused, let expiry = known.expiry, time() < expiry { return known.text }
            throw failure
        }
    }

    private func fetched(
        _ source: TokenSource, insteadOf refused: String?, _ options: ExchangeOptions
    ) async -> ServiceResponse {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(continuation, number, for: source, insteadOf: refused, options)
            }
        } onCancel: {
            giveUp(number, source)
        }
    }

    /// True while the answer to a refresh token that was sent has not come: a process that ended now would lose the one that
    /// takes its place.
    package var isSpending: Bool {
        state.withLock { state in state.entries.values.contains { $0.fetch?.isSpending == true } }
    }

    /// Waits until nothing ``isSpending``, at most for `limit`; also in a task that is cancelled.
    package func finish(within limit: Duration) async {
        let end = ContinuousClock.now.advanced(by: limit)
        let waiting = Task {
            while isSpending, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(20)) }
        }
        await waiting.value
    }

    /// The one task of its own: it outlives the waiter that began it when others have joined, and ends with the last, unless
    /// it is spending.
    private func wait(
        _ continuation: CheckedContinuation<ServiceResponse, Never>, _ number: UInt64, for source: TokenSource,
        insteadOf refused: String?, _ options: ExchangeOptions
    ) {
        if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled())) }
        let now = time()
        let known = state.withLock { state -> ServiceResponse? in
            // The one that was asked for meanwhile.
            if let token = state.entries[source]?.token, token.serves(insteadOf: refused, now: now) {
                return .success(token)
            }
            if let failure = state.entries[source]?.pause?.failure(now: now) { return .failure(failure) }
            state.entries[source, default: Entry()].waiters[number] = continuation
            if state.entries[source]?.fetch == nil {
                let task = Task { await self.fetch(source, number, options) }
                state.entries[source]?.fetch = Fetch(number: number, task: task)
            }
            return nil
        }
        if let known { return continuation.resume(returning: known) }
        if case .endpoint = source { options.onAuthentication?() }
    }

    private func giveUp(_ number: UInt64, _ source: TokenSource) {
        let (waiter, fetch) = state.withLock {
            state -> (CheckedContinuation<ServiceResponse, Never>?, Task<Void, Never>?) in
            let waiter = state.entries[source]?.waiters.removeValue(forKey: number)
            let isLast = waiter != nil && state.entries[source]?.waiters.isEmpty == true
            guard isLast, let fetch = state.entries[source]?.fetch, !fetch.isSpending else { return (waiter, nil) }
            state.entries[source]?.fetch = nil
            return (waiter, fetch.task)
        }
        fetch?.cancel()
        waiter?.resume(returning: .failure(.cancelled()))
    }

    /// Says whether the first byte with a refresh token may go out: not when its fetch was given up. From then on it is not
    /// cancelled: an endpoint that gives a new one each time has forgotten the one that was sent.
    private func spend(_ number: UInt64, _ source: TokenSource) -> Bool {
        state.withLock { state in
            guard state.entries[source]?.fetch?.number == number else { return false }
            state.entries[source]?.fetch?.isSpending = true
            return true
        }
    }

    private func fetch(_ source: TokenSource, _ number: UInt64, _ options: ExchangeOptions) async {
        let answer = await answer(from: source, number, options)
        let now = time()
        let waiters = state.withLock { state -> [CheckedContinuation<ServiceResponse, Never>] in
            guard state.entries[source]?.fetch?.number == number else { return [] }
            switch answer {
            case .success(let token): state.entries[source]?.token = token
            case .failure(let failure): state.entries[source]?.pause = Pause(failure, now: now)
            }
            state.entries[source]?.fetch = nil
            defer { state.entries[source]?.waiters = [:] }
            return state.entries[source].map { Array($0.waiters.values) } ?? []
        }
        for waiter in waiters { waiter.resume(returning: answer) }
    }

    private func answer(
        from source: TokenSource, _ number: UInt64, _ options: ExchangeOptions
    ) async -> ServiceResponse {
        switch source {
        case .endpoint(let grant):
            var options = options.forToken(at: grant.tokenURL)
            if grant.refreshToken != nil { options.mayBegin = { [self] in spend(number, source) } }
            return await ask(grant, options)
        case .signed(let token):
            do throws(RequestFailure) {
                let now = time()
                let text = try token.text(now: now, identifier: Self.identifier)
                return .success(AccessToken(signed: text, obtained: now, lifetime: token.lifetime))
            } catch {
                return .failure(ExchangeFailure(error))
            }
        }
    }

    /// A name that no other assertion has.
    private static var identifier: String { DecorationContext().randomHex(bytes: 16) }

    /// Asks once; while it is not known how the client may say who it is, once in each way.
    private func ask(_ grant: TokenGrant, _ options: ExchangeOptions) async -> ServiceResponse {
        let entry = state.withLock { $0.entries[.endpoint(grant)] }
        let turn = await turn(of: grant)
        defer { withExtendedLifetime(turn) {} }
        // Another process may have got a newer one.
        let kept = grant.refreshToken.flatMap { refreshTokens?.latest(of: $0, for: grant.account) }
        let rotated = kept ?? entry?.token?.rotated
        // An endpoint may name in its refusal what it was sent.
        if let rotated { options.onToken?(rotated) }
        var answer: ServiceResponse = .failure(.cancelled())
        for authentication in entry?.authentication.map({ [$0] }) ?? grant.authentications {
            answer = await sent(grant, authentication, rotated, options)
            switch answer {
            case .success(let token):
                state.withLock { $0.entries[.endpoint(grant)]?.authentication = authentication }
                if let rotated = token.rotated, let original = grant.refreshToken {
                    options.onToken?(rotated)
                    refreshTokens?.keep(rotated, of: original, for: grant.account)
                }
                return answer
            case .failure(let failure):
                guard case .tokenRefused = failure.reason else { return answer }
            }
        }
        return answer
    }

    /// Waits until no other process asks with the same refresh token: an endpoint that gives a new one each time takes each
    /// once, and may take all of them back from a client that sends one twice (RFC 9700, section 4.14.2). Nil when it took
    /// longer than any answer may.
    private func turn(of grant: TokenGrant) async -> (any Sendable)? {
        guard let original = grant.refreshToken, let refreshTokens else { return nil }
        for _ in 0..<3000 {
            if let turn = refreshTokens.turn(of: original, for: grant.account) { return turn }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return nil }
        }
        return nil
    }

    private func sent(
        _ grant: TokenGrant, _ authentication: TokenGrant.Authentication, _ rotated: String?,
        _ options: ExchangeOptions
    ) async -> ServiceResponse {
        do {
            let assertion = try grant.signedAssertion(now: time(), identifier: Self.identifier)
            if let assertion { options.onToken?(assertion) }
            let request = try grant.request(authentication, rotated: rotated, assertion: assertion)
            let response = try await transport.start(request, options: options).value
            return judged(response, grant)
        } catch let failure as RequestFailure {
            return .failure(ExchangeFailure(failure))
        } catch let failure as ExchangeFailure {
            return .failure(failure.asOfToken(at: grant.tokenURL))
        } catch {
            return .failure(.cancelled())
        }
    }

    private func judged(_ response: HTTPExchangeResponse, _ grant: TokenGrant) -> ServiceResponse {
        let place = "The token endpoint \(ExchangeFailure.shown(grant.tokenURL))"
        if response.isSuccess {
            if let answer = try? TokenAnswer(body: response.body), !answer.access_token.isEmpty {
                return .success(AccessToken(answer, obtained: time()))
            }
            // A page of a login or of an outage is something between us and the endpoint, and passes as that does.
            if response.body.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "<") {
                return .failure(
                    ExchangeFailure(
                        .tokenUnavailable(status: response.status, retryAfter: nil),
                        message: "\(place) answered \(response.status) with a page of HTML or XML, and gave no token."))
            }
            return .failure(
                ExchangeFailure(.tokenRefused(status: response.status), message: "\(place) gave no access_token."))
        }
        let said = try? TokenRefusal(body: response.body)
        let isPassing =
            [408, 425, 429].contains(response.status) || response.status >= 500 || said?.isPassing == true
        let words = [said?.error, said?.error_description].compactMap(\.self).joined(separator: ": ")
        let reason: ExchangeFailure.Reason =
            isPassing
            // Less than a second says nothing: the pause after a failure is longer.
            ? .tokenUnavailable(
                status: response.status, retryAfter: response.wait(now: time()).flatMap { $0 >= .seconds(1) ? $0 : nil }
            )
            : .tokenRefused(status: response.status)
        return .failure(
            ExchangeFailure(
                reason,
                message: "\(place) answered \(response.status)\(words.isEmpty ? "" : ", \(words.forDisplay)")."))
    }
}

extension ExchangeOptions {
    /// Returns how a token is asked for, on behalf of a request with these options. Pins and our own certificate belong
    /// to the service's origin, and hold for the endpoint when it is there too.
    fileprivate func forToken(at url: String) -> ExchangeOptions {
        var options = ExchangeOptions(
            totalTimeout: .seconds(60), connectTimeout: connectTimeout, redirects: 0, maximumBodyBytes: 1 << 20,
            proxy: proxy)
        (options.tls, options.onToken) = (tls, onToken)
        if URLParts(url)?.origin != requestOrigin {
            options.tls = TLSOptions(ca: tls.ca, minimumVersion: tls.minimumVersion)
        }
        return options
    }
}

extension ExchangeFailure {
    /// Returns the same of the request that waits for the token: of that one nothing was sent.
    fileprivate func asOfToken(at url: String) -> ExchangeFailure {
        if reason == .cancelled { return .cancelled() }
        return ExchangeFailure(
            reason, message: "No token from \(Self.shown(url)): \(message)", connectionMade: false)
    }

    /// A URL without its query.
    fileprivate static func shown(_ url: String) -> String {
        String(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
    }
}
