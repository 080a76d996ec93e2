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
        var fetch: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<ServiceResponse, Never>] = [:]
        /// How this client says who it is, once one way has worked.
        var authentication: TokenGrant.Authentication?
    }

    private struct State {
        var entries: [TokenGrant: Entry] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let transport: any Transport
    private let time: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: sends the requests for tokens.
    ///   - time: the time since 1 January 1970 UTC.
    public init(
        transport: any Transport, time: @escaping @Sendable () -> Duration = DecorationContext.systemTime
    ) {
        self.transport = transport
        self.time = time
    }

    /// A token for the grant. Cancelling the Swift task that awaits gives up only this wait.
    ///
    /// - Parameters:
    ///   - refused: a token that a service did not take: it is not given again.
    ///   - options: of the request that the token is for; its proxy and authorities hold for the endpoint too.
    public func token(
        for grant: TokenGrant, insteadOf refused: String? = nil, options: ExchangeOptions = ExchangeOptions()
    ) async throws(ExchangeFailure) -> String {
        let known = state.withLock { $0.entries[grant]?.token }
        if let known, known.text != refused, known.renewal.map({ time() < $0 }) ?? true { return known.text }
        options.onAuthentication?()
        switch await fetched(grant, options) {
        case .success(let token): return token.text
        case .failure(let failure):
            // A renewal ahead of time that fails costs nothing while the old token is good.
            if let known, known.text != refused, let expiry = known.expiry, time() < expiry { return known.text }
            throw failure
        }
    }

    private func fetched(_ grant: TokenGrant, _ options: ExchangeOptions) async -> ServiceResponse {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(continuation, number, for: grant, options)
            }
        } onCancel: {
            giveUp(number, grant)
        }
    }

    /// The one task of its own: it outlives the waiter that began it when others have joined, and ends with the last.
    private func wait(
        _ continuation: CheckedContinuation<ServiceResponse, Never>, _ number: UInt64, for grant: TokenGrant,
        _ options: ExchangeOptions
    ) {
        if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled())) }
        state.withLock { state in
            state.entries[grant, default: Entry()].waiters[number] = continuation
            if state.entries[grant]?.fetch == nil {
                state.entries[grant]?.fetch = Task { await self.fetch(grant, options) }
            }
        }
    }

    private func giveUp(_ number: UInt64, _ grant: TokenGrant) {
        let (waiter, fetch) = state.withLock { state in
            let waiter = state.entries[grant]?.waiters.removeValue(forKey: number)
            let isLast = waiter != nil && state.entries[grant]?.waiters.isEmpty == true
            let fetch = isLast ? state.entries[grant]?.fetch : nil
            if isLast { state.entries[grant]?.fetch = nil }
            return (waiter, fetch)
        }
        fetch?.cancel()
        waiter?.resume(returning: .failure(.cancelled()))
    }

    private func fetch(_ grant: TokenGrant, _ options: ExchangeOptions) async {
        let answer = await ask(grant, options)
        let waiters = state.withLock { state -> [CheckedContinuation<ServiceResponse, Never>] in
            guard !Task.isCancelled else { return [] }
            if case .success(let token) = answer { state.entries[grant]?.token = token }
            state.entries[grant]?.fetch = nil
            defer { state.entries[grant]?.waiters = [:] }
            return state.entries[grant].map { Array($0.waiters.values) } ?? []
        }
        for waiter in waiters { waiter.resume(returning: answer) }
    }

    /// Asks once; while it is not known how the client may say who it is, once in each way.
    private func ask(_ grant: TokenGrant, _ options: ExchangeOptions) async -> ServiceResponse {
        let entry = state.withLock { $0.entries[grant] }
        let rotated = entry?.token?.rotated
        var answer: ServiceResponse = .failure(.cancelled())
        for authentication in entry?.authentication.map({ [$0] }) ?? [.header, .form] {
            answer = await sent(grant, authentication, rotated, options)
            switch answer {
            case .success:
                state.withLock { $0.entries[grant]?.authentication = authentication }
                return answer
            case .failure(let failure):
                guard case .tokenRefused = failure.reason else { return answer }
            }
        }
        return answer
    }

    private func sent(
        _ grant: TokenGrant, _ authentication: TokenGrant.Authentication, _ rotated: String?,
        _ options: ExchangeOptions
    ) async -> ServiceResponse {
        do {
            let request = try grant.request(authentication, rotated: rotated)
            let response = try await transport.start(request, options: options.forToken(at: grant.tokenURL)).value
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
            return .failure(
                ExchangeFailure(.tokenRefused(status: response.status), message: "\(place) gave no access_token."))
        }
        let isPassing = [408, 425, 429].contains(response.status) || response.status >= 500
        let said = try? TokenRefusal(body: response.body)
        let words = [said?.error, said?.error_description].compactMap(\.self).joined(separator: ": ")
        return .failure(
            ExchangeFailure(
                isPassing ? .unreachable : .tokenRefused(status: response.status),
                message: "\(place) answered \(response.status)\(words.isEmpty ? "" : ", \(words.forDisplay)")."))
    }
}

extension ExchangeOptions {
    /// How a token is asked for, on behalf of a request with these options. Pins and our own certificate belong to the
    /// service's origin, and hold for the endpoint when it is there too.
    fileprivate func forToken(at url: String) -> ExchangeOptions {
        var options = ExchangeOptions(
            totalTimeout: .seconds(60), connectTimeout: connectTimeout, redirects: 0, maximumBodyBytes: 1 << 20,
            proxy: proxy)
        options.tls = tls
        if URLParts(url)?.origin != requestOrigin {
            options.tls = TLSOptions(ca: tls.ca, minimumVersion: tls.minimumVersion)
        }
        return options
    }
}

extension ExchangeFailure {
    /// The same of the request that waits for the token: of that one nothing was sent.
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
