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
    @IndirectOptional private(set) var service: ServiceDefinition?
    @Indirect private(set) var network: Network
    /// The stage's decorators, then its service's, then the pipeline's.
    let outerDecorators: [DecoratorTemplate]
    /// Which bodies are counted as they go by; transfers count their own, with their checkpoints.
    var counted = CountedBodies.none
    /// False where the bodies of responses are written to files: these are asked for as they are.
    var acceptsCodings = true
    /// Secret captures of responses to this stage's requests, beyond those that stand in a request itself.
    var secretCaptures: [CaptureSet.Entry]
    /// Searches for lost submits that were broken off.
    let searches = ListSearches()
    /// Services that redirects led to, and that were closed.
    let redirects = RedirectedServices()
    /// Names of the decorators from outside the request, for what must not stand next to each other.
    private let outerNames: Set<String>

    /// Reads the decorators from outside the requests; their mistakes are told. Network and service are kept once for
    /// all stages.
    init(reading: StageReading, network: Indirect<Network>, decorators: DecoratorCatalogue) {
        _service = reading.sharedService
        _network = network
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
        if key.header == nil, !definition.uses.ownKey {
            findings.report(
                key.place, "'once.key' is true, but ${{ self.key }} stands nowhere in this request",
                hint: "put ${{ self.key }} into the body, query or URL, or name the header that carries the key")
        }
    }

    /// Returns what messages call the other side: the service by its name, else the host.
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
        await RequestSending(requests: self, rendered: rendered, context: context).perform(adjust: adjust)
    }

    /// Takes one of the places that the service has for remote jobs; without one the step waits, and nothing is counted.
    func claimComputation<Checkpoint>(
        _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) {
        try await RequestSending(requests: self, rendered: rendered, context: context).claimComputation()
    }

    /// Returns whether a refusal was of credentials that are others by now, so that another try may fare better.
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
