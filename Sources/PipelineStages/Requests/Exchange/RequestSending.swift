import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One request of a stage on its way: admitted by its service, sent, and noted in all that is kept of exchanges.
struct RequestSending<Checkpoint: Codable & Sendable> {
    let requests: StageRequests
    let rendered: RenderedRequest
    let context: StageContext<Checkpoint>

    /// Sends it, once.
    func perform(
        adjust: (inout ExchangeOptions) -> Void
    ) async -> Result<HTTPExchangeResponse, ExchangeFailure> {
        let admission: RequestAdmission
        do throws(ExchangeFailure) {
            admission = try await admit()
        } catch {
            return .failure(error)
        }
        var options = rendered.options
        // A process that was stopped in between may have lost the job to one that has sent it by now, or has its result:
        // a part of this one's would lie next to that forever.
        options.mayBegin = { context.isOwner }
        adjust(&options)
        do throws(ExchangeFailure) {
            // What is signed, or has a token, is made when its turn has come.
            if options.turn == nil { options.turn = try await turn() }
            try await checkThatItIsGood()
        } catch {
            await giveBack(admission)
            return .failure(error)
        }
        countPoll()
        listenForTokens(&options)
        let decoration = rendered.decoration(over: requests.network, in: context)
        let recording = ExchangeRecording(started: context.now)
        options.onRequest = { recording.take($0) }
        options.sampleBytes = ExchangeRecording.sampled
        var result: Result<HTTPExchangeResponse, ExchangeFailure>
        do throws(ExchangeFailure) {
            result = .success(
                try await requests.network.exchange(
                    rendered.description, decorators: rendered.decorators, context: decoration, options: options))
        } catch {
            result = .failure(await renewed(error))
        }
        await close(admission, by: &result)
        if let response = result.response { conceal(response) }
        if var record = recording.record(result, in: context) {
            record.role = rendered.role
            context.record(record)
            measure(result, record)
        }
        count(result)
        return result
    }

    /// Waits until the service's limits let another request begin; nil without any.
    func turn() async throws(ExchangeFailure) -> ServiceTurn? {
        guard var limits = rendered.options.limits else { return nil }
        let urgency = context.facts.freshness.urgency
        limits.urgency = urgency.rawValue
        if let rate = limits.requestsPerSecond {
            let paced = ServiceID(context.digest(Array(limits.service.utf8)))
            await context.services.turn(at: paced, requestsPerSecond: rate, urgency: urgency)
        }
        return try await requests.network.transport.turn(at: rendered.description.url, limits)
    }

    /// Fails where what it was made of has expired by now: the step goes on with what is renewed, and is not refused. What
    /// became of a submit that was sent is found out with what that was sent with.
    private func checkThatItIsGood() async throws(ExchangeFailure) {
        guard let expiry = context.facts.freshness.expiry, expiry.time <= context.now, reads(expiry.holder),
            await !context.hasOpenSubmit
        else { return }
        throw ExchangeFailure(
            .held(nil),
            message: expiry.holder == context.facts.step
                ? "the link that this item was given expired at \(expiry.time)"
                : "what stage '\(expiry.holder.stage)' captured expired at \(expiry.time)")
    }

    /// Returns whether it is made of what the step gave, which is its own for an item.
    private func reads(_ holder: StepKey) -> Bool {
        let uses = rendered.definition.uses
        if holder == context.facts.step { return uses.item }
        return uses.stages.contains(holder.stage)
            || requests.outerDecorators.contains { $0.captures.contains { $0.captureStage == holder.stage } }
    }

    /// Waits until it can go out at once: its turn has come, and the token that it needs is there.
    func ready() async throws(ExchangeFailure) -> ServiceTurn? {
        do throws(ExchangeFailure) {
            let turn = try await turn()
            try await checkThatItIsGood()
            let credential = rendered.decorators.lazy.compactMap { $0 as? any CredentialDecorator }.first
            var request = rendered.description
            if let source = credential?.tokenSource, request.claimCredentials() {
                var options = rendered.options
                listenForTokens(&options)
                try await requests.network.transport.authorize(to: request.url, by: source, options: options)
            }
            return turn
        } catch {
            throw await renewed(error)
        }
    }

    private func listenForTokens(_ options: inout ExchangeOptions) {
        options.onToken = { context.conceal($0, as: "oauth2") }
        options.onAuthentication = { context.authenticates() }
    }

    /// Takes one of the places that the service has for remote jobs; without one the step waits, and nothing is counted.
    func claimComputation() async throws(StageFailure) {
        // Of one that went out before its place is there, or it is one of before there were any.
        guard let setting = requests.service?.limits?.computations, await !context.hasOpenSubmit,
            await !context.hasSubmitted
        else { return }
        let limit = try await context.value(of: setting)
        let until = await context.services.claimComputation(
            at: service, for: context.facts.step, of: context.facts.job, limit: limit)
        guard let until else { return }
        let jobs = limit == 1 ? "1 job that has not ended" : "\(limit) jobs that have not ended"
        throw .failed(
            AttemptFailure(
                StepFailure(
                    "\(requests.name(of: rendered.description.url)) has \(jobs), as many as it may have",
                    service: requests.service?.name, place: context.facts.place),
                kind: .held(.full), retryAfter: max(.zero, until - context.now)))
    }

    /// Fails where the batch of which the job is an item is to order nothing more: what others met while this one waited for
    /// its turn is not to be met again. The step waits, and nothing is counted.
    func checkThatItMayOrder() async throws(StageFailure) {
        guard context.facts.submitName.isItem, await !context.hasOpenSubmit, await !context.hasSubmitted,
            await !context.services.mayOrder(context.facts.job)
        else { return }
        throw .failed(
            AttemptFailure(
                StepFailure("the batch orders nothing more for now", place: context.facts.place), kind: .held(.full),
                retryAfter: .seconds(5)))
    }

    // MARK: The service

    var name: String {
        requests.service?.name ?? URLParts(rendered.description.url)?.authority ?? rendered.description.url
    }

    /// The service that a request goes to, by its origin and the account that asks, whatever token a login gave it.
    var service: ServiceID { service(of: rendered.lastingAccount ?? rendered.account) }

    /// The service by the very credentials of the request: for what is only to be shared by those who have the same.
    var accountService: ServiceID { service(of: rendered.account) }

    private func service(of account: String) -> ServiceID {
        let url = rendered.description.url
        return ServiceID(context.digest(Array(((URLParts(url)?.origin ?? url) + account).utf8)))
    }

    // MARK: What is told of it

    /// A token that was refused to a client whose secret is another by now is worth another try.
    private func renewed(_ failure: ExchangeFailure) async -> ExchangeFailure {
        guard case .tokenRefused = failure.reason, await context.renewSecrets(since: rendered.secrets) else {
            return failure
        }
        return ExchangeFailure(.unreachable, message: failure.message)
    }

    /// Hides the values of secret captures in all that is shown or kept from now on: before the exchange that brought
    /// them is recorded.
    private func conceal(_ response: HTTPExchangeResponse) {
        let entries = rendered.definition.capture.secrets + requests.secretCaptures
        guard !entries.isEmpty else { return }
        let response = requests.answer(of: response)
        let items = (try? rendered.items?.items(in: response)) ?? []
        let page = response.with(items: .array(items))
        // A lost submit that is found in a list has its captures taken from its entry there.
        let entriesOfList = items.map { ServiceResponse(status: response.status, url: response.url, body: $0.bytes) }
        for entry in entries {
            for source in [page] + entriesOfList {
                for text in entry.selector.lenientValue(in: source).secretTexts {
                    context.conceal(text, as: "\(context.facts.step.stage).\(entry.name)")
                }
            }
        }
    }

    /// Counts a poll that goes out: `single`, or as a `list` for many jobs.
    private func countPoll() {
        guard rendered.role == ExchangeRecord.poll else { return }
        var measured = Measurements()
        measured.count(.polls, [requests.label, rendered.items == nil ? "single" : "list"])
        context.measure(measured)
    }

    /// A body went over the wire whether its answer came or was lost.
    private func count(_ result: Result<HTTPExchangeResponse, ExchangeFailure>) {
        guard requests.counted != .none else { return }
        context.count(
            BytesMoved(sent: result.bytesSent, received: requests.counted == .all ? result.bytesReceived : 0))
    }

    /// Measures one exchange: how long it took, and the bytes of its bodies.
    private func measure(_ result: Result<HTTPExchangeResponse, ExchangeFailure>, _ record: ExchangeRecord) {
        var measured = Measurements()
        let (seconds, status) =
            switch result {
            case .success(let response): (response.timings.total, "\(response.status / 100)xx")
            case .failure: ((context.now - record.started).seconds, "none")
            }
        measured.observe(.requestDuration, [requests.label, Self.methodLabel(record.method), status], seconds)
        measured.count(.transferredBytes, [requests.label, "sent"], by: Double(result.bytesSent))
        measured.count(.transferredBytes, [requests.label, "received"], by: Double(result.bytesReceived))
        context.measure(measured)
    }

    /// The methods of RFC 9110, section 9, and RFC 5789; a document may name any other.
    private static func methodLabel(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].contains(method) ? method : MetricNames.other
    }
}

extension Result<HTTPExchangeResponse, ExchangeFailure> {
    /// The response, also one that came too early to be believed; nil when none came whole.
    fileprivate var response: HTTPExchangeResponse? {
        switch self {
        case .success(let response): return response
        case .failure(let failure):
            guard case .answeredEarly(let response) = failure.reason else { return nil }
            return response
        }
    }

    /// Bytes of the request's body that went out, whatever came of them.
    var bytesSent: Int64 {
        switch self {
        case .success(let response): response.bytesSent
        case .failure(let failure): failure.requestBytesSent
        }
    }

    /// Bytes of the response's body that came; none where no whole response did.
    var bytesReceived: Int64 {
        switch self {
        case .success(let response): max(response.bytesReceived, Int64(response.body.count))
        case .failure: 0
        }
    }
}
