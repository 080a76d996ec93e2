import JSONPath
import PipelineCore
import PipelineHTTP

/// The requests of one stage, bound to its service: renders, sends and judges them.
///
/// Made when the stage is planned. It never retries: what it throws says whether another try may help.
struct StageRequests: Sendable {
    enum CountedBodies {
        case none, sent, all
    }

    /// The service that the stage names; nil when its URLs are absolute.
    @Indirect private(set) var service: ServiceDefinition?
    @Indirect private(set) var network: Network
    /// The stage's decorators, then its service's, then the pipeline's.
    let outerDecorators: [DecoratorTemplate]
    /// Which bodies are counted as they go by; transfers count their own, with their checkpoints.
    var counted = CountedBodies.none
    /// False where the bodies of responses are written to files: these are asked for as they are.
    var acceptsCodings = true
    /// Secret captures of responses to this stage's requests, beyond those that stand in a request itself.
    var secretCaptures: [CaptureSet.Entry]
    /// Names of the decorators from outside the request, for what must not stand beside each other.
    private let outerNames: Set<String>

    /// Reads the decorators from outside the requests; their mistakes are told.
    init(reading: StageReading, network: Network, decorators: DecoratorCatalogue) {
        service = reading.service
        self.network = network
        secretCaptures = reading.secretCaptures
        let levels = reading.decorators
        var templates: [DecoratorTemplate] = []
        for (level, definitions) in levels.enumerated() {
            let roots: AllowedRoots = level == 0 ? .request : .service
            templates += definitions.compactMap { decorators.read($0, roots: roots, findings: reading.findings) }
        }
        outerDecorators = templates
        outerNames = Set(levels.joined().map(\.name))
    }

    /// Reports what is wrong with a request of this stage beyond itself: a path without a service, two keys.
    func check(_ definition: RequestDefinition, _ findings: DiagnosticCollector) {
        guard let place = definition.place else { return }
        if service == nil, definition.url.start?.hasPrefix("/") == true {
            findings.report(
                place, "this request has a path, and the stage names no service that it could belong to",
                hint: "add \"service\": \"NAME\" to the stage, or write the whole URL")
        }
        guard let key = definition.once?.key else { return }
        let ownNames = definition.decoratorNames
        if ownNames.contains("idempotencyKey") || outerNames.contains("idempotencyKey") {
            findings.report(
                key.place, "'once.key' stands beside the decorator 'idempotencyKey': the key would be sent twice",
                hint: "remove the decorator; 'once.key' sends the key")
        }
        if key.header == nil, !definition.usesOwnKey {
            findings.report(
                key.place, "'once.key' is true, but ${{ self.key }} stands nowhere in this request",
                hint: "put ${{ self.key }} into the body, query or URL, or name the header that carries the key")
        }
    }

    /// What messages call the other side: the service by its name, else the host.
    func name(of url: String) -> String {
        if let service { return "service '\(service.name)'" }
        return URLParts(url).map { parts in
            parts.authority.unicodeScalars.split(separator: "@").last.map { String($0) } ?? parts.authority
        } ?? "the server"
    }

    /// Sends a request once; the only place that does for requests of the document.
    ///
    /// Cancelling the task ends the exchange with `.cancelled`.
    func send<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        adjust: (inout ExchangeOptions) -> Void = { _ in }
    ) async -> Result<HTTPExchangeResponse, ExchangeFailure> {
        let id = self.id(of: rendered, in: context)
        let admission = await context.services.admit(id)
        if case .closed(let until) = admission { return .failure(held(until, rendered, in: context)) }
        var options = rendered.options
        // A process that was stopped in between may have lost the job to one that has sent it by now, or has its result:
        // a part of this one's would lie beside that for ever.
        options.mayBegin = { context.isOwner }
        adjust(&options)
        options.onToken = { context.conceal($0, as: "oauth2") }
        options.onAuthentication = { context.authenticates() }
        var decoration = network.context
        decoration.key = rendered.key
        decoration.attempt = context.facts.attempt
        let recording = ExchangeRecording(started: context.now)
        options.onRequest = { recording.take($0) }
        options.sampleBytes = ExchangeRecording.sampled
        var result: Result<HTTPExchangeResponse, ExchangeFailure>
        do throws(ExchangeFailure) {
            result = .success(
                try await network.exchange(
                    rendered.description, decorators: rendered.decorators, context: decoration, options: options))
        } catch {
            result = .failure(await renewed(error, rendered, in: context))
        }
        await close(id, by: &result, rendered, isTrial: admission == .trial, in: context)
        if case .success(let response) = result { conceal(response, of: rendered, in: context) }
        if var record = recording.record(result, in: context) {
            record.role = rendered.role
            context.record(record)
            measure(result, record, in: context)
        }
        count(result, in: context)
        return result
    }

    /// A body went over the wire whether its answer came or was lost.
    private func count<Checkpoint>(
        _ result: Result<HTTPExchangeResponse, ExchangeFailure>, in context: StageContext<Checkpoint>
    ) {
        guard counted != .none else { return }
        switch result {
        case .success(let response):
            let received = counted == .all ? max(response.bytesReceived, Int64(response.body.count)) : 0
            context.count(BytesMoved(sent: response.bytesSent, received: received))
        case .failure(let failure) where failure.requestBytesSent > 0:
            context.count(BytesMoved(sent: failure.requestBytesSent, received: 0))
        case .failure: break
        }
    }

    /// A token that was refused to a client whose secret is another by now is worth another try.
    private func renewed<Checkpoint>(
        _ failure: ExchangeFailure, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async -> ExchangeFailure {
        guard case .tokenRefused = failure.reason, await context.renewSecrets(since: rendered.secrets) else {
            return failure
        }
        return ExchangeFailure(.unreachable, message: failure.message)
    }

    /// Whether a refusal was of credentials that are others by now, so that another try may fare better.
    func hasNewCredentials<Checkpoint>(
        for status: Int, of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async -> Bool {
        guard status == 401 || status == 403 else { return false }
        return await context.renewSecrets(since: rendered.secrets)
    }

    /// Renders, sends and judges a request for which another try is harmless.
    func perform<Checkpoint>(
        _ definition: RequestDefinition, in context: StageContext<Checkpoint>, role: String? = nil,
        expecting expected: StatusSet = .success, adjust: (inout Scope) -> Void = { _ in }
    ) async throws(StageFailure) -> ServiceResponse {
        let rendered = try await render(definition, in: context, role: role, adjust: adjust)
        switch await send(rendered, in: context) {
        case .success(let response):
            return try await judge(response, of: rendered, in: context, default: expected, adjust: adjust)
        case .failure(let failure): throw self.failure(failure, of: rendered, in: context)
        }
    }
}
