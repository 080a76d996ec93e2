import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The judgement of a request's rules about a response.
enum Verdict: Sendable {
    /// Its status counts as success.
    case expected
    /// An entry of `fail` held.
    case ruledOut(StepFailure, allowsRetry: Bool)
    /// Its status does not count as success.
    case unexpected(StepFailure)
}

extension StageRequests {
    /// The answer as selectors and expressions see it.
    func answer(of response: HTTPExchangeResponse) -> ServiceResponse {
        ServiceResponse(
            status: response.status, headers: response.headers.map { ($0.name.rawName, $0.value) }, url: response.url,
            body: response.body)
    }

    /// Judges an answer: `fail` first, then `expect`. What does not pass is thrown as a failure that says whether
    /// another try may help.
    func judge<Checkpoint>(
        _ response: HTTPExchangeResponse, of rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        default expected: StatusSet = .success, adjust: (inout Scope) -> Void = { _ in }
    ) async throws(StageFailure) -> ServiceResponse {
        let answer = answer(of: response)
        switch try await verdict(on: answer, of: rendered, in: context, default: expected, adjust: adjust) {
        case .expected: return answer
        case .ruledOut(let failure, let allowsRetry):
            throw .failed(
                AttemptFailure(
                    failure, kind: allowsRetry ? .answered : .definite,
                    retryAfter: allowsRetry ? response.retryAfter(now: context.now) : nil))
        case .unexpected(let failure):
            if await hasNewCredentials(for: response.judgedStatus, of: rendered, in: context) {
                throw .failed(AttemptFailure(failure, kind: .answered))
            }
            if await isOutdated(answer, rendered, in: context) {
                throw .failed(AttemptFailure(failure, kind: .answered))
            }
            throw .failed(tryFailure(failure, of: response, in: context))
        }
    }

    /// Returns whether a signature was too old when it came, or the rest of the request too slow, and another one is better. A
    /// request may have waited for its turn longer than the quarter of an hour for which one is good: the next is new. A token
    /// that has ended is told with 400, and is worth another try where there is a new one.
    func isOutdated<Checkpoint>(
        _ answer: ServiceResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async -> Bool {
        guard [400, 403].contains(answer.status), rendered.decorators.contains(where: { $0 is AWSSignature }) else {
            return false
        }
        if answer.saysSignatureIsOld || answer.saysRequestStalled { return true }
        return answer.saysTokenIsOld ? await context.renewSecrets(since: rendered.secrets) : false
    }

    /// Returns the same as data, for stages to which some failures mean something else.
    ///
    /// A rule that can't be put to an answer of an unexpected status says nothing: an error page has none of the members
    /// that it asks for.
    /// - Parameters:
    ///   - isRepeated: true if another answer comes after one that is not the JSON that a rule reads, which then says
    ///     nothing either.
    ///   - isTolerant: true if a rule says nothing of any answer that it can't be put to.
    func verdict<Checkpoint>(
        on answer: ServiceResponse, of rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        default expected: StatusSet = .success, isRepeated: Bool = false, isTolerant: Bool = false,
        adjust: (inout Scope) -> Void = { _ in }
    ) async throws(StageFailure) -> Verdict {
        let isExpected = try await isExpected(answer, of: rendered, in: context, default: expected)
        for rule in rendered.definition.fail {
            let isTolerant = isTolerant || !isExpected || isRepeated && rule.condition.cannotRead(answer)
            let message = try await context.evaluate(with: { scope in
                adjust(&scope)
                scope.response = answer.responseValue
            }) { scope throws(EvaluationFailure) in
                try rule.judgement(in: scope, isTolerant: isTolerant, of: name(of: rendered.description.url))
            }
            if let message {
                let wouldWait =
                    !message.allowsRetry && !isExpected && context.facts.retry.statuses.contains(answer.status)
                let hint =
                    "without a rule of \"fail\" that holds for it the status \(answer.status) is tried again: "
                    + "\"when\": \"response.status < 400 && …\""
                return .ruledOut(
                    failure(message.text, answer, of: rendered, hint: wouldWait ? hint : nil, in: context),
                    allowsRetry: message.allowsRetry)
            }
        }
        return isExpected ? .expected : .unexpected(unexpected(answer, of: rendered, in: context))
    }

    /// Returns whether the status of an answer counts as success.
    func isExpected<Checkpoint>(
        _ answer: ServiceResponse, of rendered: RenderedRequest, in context: StageContext<Checkpoint>,
        default expected: StatusSet = .success
    ) async throws(StageFailure) -> Bool {
        guard let expect = rendered.definition.expect else { return expected.contains(answer.status) }
        if let constant = expect.constant { return constant.contains(answer.status) }
        return try await context.evaluate { scope throws(EvaluationFailure) in
            try expect.values(in: scope).contains(answer.status)
        }
    }

    /// The failure of a try whose answer had an unexpected status: worth another one for the statuses of `retry`.
    func tryFailure<Checkpoint>(
        _ failure: StepFailure, of response: HTTPExchangeResponse, in context: StageContext<Checkpoint>
    ) -> AttemptFailure {
        if let closing = response.closing {
            return AttemptFailure(failure, kind: .held(.closed), retryAfter: closing)
        }
        let isWorthRetrying = context.facts.retry.names(response)
        return AttemptFailure(
            failure, kind: isWorthRetrying ? .answered : .definite,
            retryAfter: isWorthRetrying ? response.retryAfter(now: context.now) : nil)
    }

    /// A failure with everything of the exchange that helps a person, redacted.
    func failure<Checkpoint>(
        _ title: String, _ answer: ServiceResponse, of rendered: RenderedRequest, hint: String? = nil,
        in context: StageContext<Checkpoint>
    ) -> StepFailure {
        let body = ShownText.excerpt(String(decoding: answer.body.prefix(4096), as: UTF8.self), in: context)
        return StepFailure(
            ShownText.excerpt(title, limit: 600, in: context), hint: hint, service: service?.name,
            request: context.redact(rendered.line), status: answer.status, body: body.isEmpty ? nil : body,
            place: context.facts.place)
    }

    private func unexpected<Checkpoint>(
        _ answer: ServiceResponse, of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) -> StepFailure {
        let found = ErrorMessage.find(in: answer, by: rendered.definition.error)
        let message = found.map { ": \(ShownText.excerpt($0, in: context))" } ?? ""
        let name = name(of: rendered.description.url)
        let definition = rendered.definition
        let renewal =
            definition.url.renewal(restart: context.facts.restartCommand)
            ?? (answer.judgedStatus == 401 ? definition.credentialRenewal(with: outerDecorators) : nil)
        return failure(
            "\(name) answered \(StatusText.describe(answer.status))\(message)", answer, of: rendered,
            hint: RedirectAdvice.text(after: rendered.definition.method, answer, in: context)
                ?? RateLimit.hint(after: answer, saying: message)
                ?? StatusAdvice.text(
                    for: answer, at: name, renewal: renewal, isOfService: service != nil,
                    isWithheld: rendered.withholdsCredentials || rendered.lostCredentials(on: answer)), in: context)
    }
}

/// What to do about a status that was not expected.
private enum StatusAdvice {
    /// - Parameters:
    ///   - renewal: the way to a fresh URL, where a stage made it.
    ///   - isOfService: whether the request is a path at a service.
    ///   - isWithheld: whether credentials did not go along, as it is at another origin than theirs.
    static func text(
        for answer: ServiceResponse, at name: String, renewal: String?, isOfService: Bool, isWithheld: Bool
    ) -> String? {
        switch answer.judgedStatus {
        case 401, 403, 410:
            if answer.saysSignatureIsOld {
                return "check this machine's clock: the time of a request is part of its signature"
            }
            if isWithheld {
                let fact = "no credentials went there, as they belong to another origin"
                // A link that was signed wants none, and says 403 when it has expired.
                guard answer.judgedStatus == 401 else {
                    return renewal ?? "\(fact); if it is a link, it may have expired"
                }
                return "\(fact): \"credentials\": \"any-origin\" beside the request lets them go"
            }
            let credentials = "check the credentials of \(name)"
            guard let renewal else { return answer.status == 410 ? nil : credentials }
            return answer.status == 410 ? renewal : "\(renewal); or \(credentials)"
        case 404 where isOfService: return "check the path, and the url of \(name)"
        case 407: return "a proxy wants user and password in its URL: check \"proxy\" and http_proxy"
        case 429:
            return "the service wants fewer requests: \"limits\" sets \"requestsPerSecond\", \"retry\" how long to try"
        case 500...: return "the service itself is in trouble: try again later, or let \"retry\" try for longer"
        default: return nil
        }
    }
}

/// Finds the message in an error body, whole: whoever shows it redacts it before it is cut.
enum ErrorMessage {
    /// By the author's selector, else `detail` or `title` of a problem (RFC 9457), `error.message`, `error`, `message`; of
    /// XML `Error/Message`, as S3 has it.
    static func find(in answer: ServiceResponse, by selector: Selector?) -> String? {
        if let selector { return text(selector.lenientValue(in: answer)) }
        guard let body = try? answer.json() else {
            return answer.xmlText("/Error/Message").flatMap { text(.string($0)) }
        }
        let candidates = [body["detail"], body["title"], body["error"]?["message"], body["error"], body["message"]]
        return candidates.lazy.compactMap { text($0 ?? .null) }.first
    }

    /// Returns whether a body says that there is an error, in the members that mean nothing else.
    static func isError(_ body: JSON) -> Bool {
        ["error", "errors"].contains { name in body[name].map { !nothing.contains($0) } ?? false }
    }

    /// Returns whether a body says something in words, of an error perhaps.
    static func hasWords(_ body: JSON) -> Bool {
        ["detail", "title", "message"].contains { name in text(body[name] ?? .null) != nil }
    }

    /// The values with which a member says that there is no error.
    private static let nothing: [JSON] = [.null, false, 0, "", [], [:]]

    static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): return text.isEmpty ? nil : text
        case .number(let number): return number.literal
        case .array(let elements):
            let texts = elements.compactMap(text)
            return texts.isEmpty ? nil : texts.joined(separator: "; ")
        case .null, .bool, .object: return nil
        }
    }
}

/// The errors of AWS's services, which tell them in XML or in JSON.
extension ServiceResponse {
    private var awsError: (code: String?, message: String?) {
        if let code = xmlText("/Error/Code") { return (code, nil) }
        let document = try? json()
        return (
            document?["__type"]?.string?.split(separator: "#").last.map(String.init), document?["message"]?.string
        )
    }

    /// True if a signature was good, and came too late.
    fileprivate var saysSignatureIsOld: Bool {
        let (code, message) = awsError
        switch code {
        case "RequestTimeTooSkewed", "RequestExpired": return true
        case "InvalidSignatureException", "SignatureDoesNotMatch":
            return message?.hasPrefix("Signature expired") == true
        default: return false
        }
    }

    /// True if the service waited in vain for the rest of a request.
    fileprivate var saysRequestStalled: Bool { awsError.code == "RequestTimeout" }

    /// True if the session's token has ended.
    fileprivate var saysTokenIsOld: Bool {
        ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].contains(awsError.code)
    }
}
