import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One page of a list: its request, and what its answer says.
struct PageRequest: Sendable {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// Nil for a list of one page.
    @Indirect private(set) var paginate: PaginateDefinition?
    let items: PageItems
    /// What a page without the JSON that was asked for means: in a look-up, that another one may be better.
    var unreadable = AttemptFailure.Kind.definite

    /// A page that was answered.
    struct Page: Sendable {
        let items: [JSON]
        /// The items as JSON Lines: each compact and with a line feed behind it.
        let lines: [UInt8]
        let answer: ServiceResponse
        let rendered: RenderedRequest
        /// Of its body, as it came over the network.
        let bytesReceived: Int64
    }

    /// Fetches the page that the walk stands at, and moves the walk on.
    func fetch<Checkpoint>(
        _ walk: inout PageWalk, in context: StageContext<Checkpoint>, role: String? = nil, limit: Int?
    ) async throws(StageFailure) -> Page {
        let first = try await requests.render(definition, in: context, role: role)
        let rendered = try await placed(first, at: walk, in: context)
        let response: HTTPExchangeResponse
        switch await requests.send(rendered, in: context) {
        case .failure(let failure): throw requests.failure(failure, of: rendered, in: context)
        case .success(let answered): response = answered
        }
        let page = try await read(response, rendered, in: context)
        let origin = definition.credentials == .service ? URLParts(first.description.url)?.origin ?? "" : nil
        try advance(&walk, after: page, limit: limit, origin: origin, in: context)
        return page
    }

    private func read<Checkpoint>(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Page {
        let answer = try await requests.judge(response, of: rendered, in: context)
        let found: [JSON]
        do throws(PageItems.Failure) {
            found = try items.items(in: answer)
        } catch {
            throw .failed(
                AttemptFailure(
                    requests.failure(
                        error.message, answer, of: rendered,
                        hint: "look at what was sent: is the path right, and does \"items\" fit it?", in: context),
                    kind: unreadable))
        }
        var lines: [UInt8] = []
        for item in found {
            item.write(into: &lines)
            lines.append(UInt8(ascii: "\n"))
        }
        return Page(
            items: found, lines: lines, answer: answer, rendered: rendered, bytesReceived: response.bytesReceived)
    }

    private func advance<Checkpoint>(
        _ walk: inout PageWalk, after page: Page, limit: Int?, origin: String?, in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        let answer = page.answer
        guard let paginate else {
            try? walk.advance(
                after: PageFacts(url: answer.url, itemCount: page.items.count), by: .url, origin: nil)
            return
        }
        let facts = PageFacts(
            url: answer.url.isEmpty ? page.rendered.description.url : answer.url, itemCount: page.items.count,
            next: try next(by: paginate.source, in: answer, page.rendered, context),
            hasMore: hasMore(answer, paginate.condition), content: PageFingerprint(page.lines))
        do throws(PagingFailure) {
            try walk.advance(after: facts, by: paginate.rule, limit: limit, origin: origin)
        } catch {
            throw failure(Self.message(error), answer, page.rendered, hint: Self.hint(error), in: context)
        }
    }

    // MARK: The request

    private func placed<Checkpoint>(
        _ first: RenderedRequest, at walk: PageWalk, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> RenderedRequest {
        var rendered = first
        guard let paginate else { return rendered }
        if case .url(let url) = walk.position {
            rendered.description.url = url
            rendered.description.query = []
            return rendered
        }
        let own = Set(
            URLQueryNames.names(in: rendered.description.url) + rendered.description.query.map(\.name))
        if let name = paginate.names(in: .query).first(where: own.contains) {
            throw .definite(
                StepFailure(
                    "the request has the query parameter '\(name)' already, by which the pages are told apart",
                    hint: "take it out of the request; 'paginate' puts it in", service: requests.service?.name,
                    place: context.facts.place))
        }
        if let (parameter, value) = paginate.rule.parameter(at: walk.position) ?? paginate.rule.firstParameter {
            try put(value, under: parameter, into: &rendered, in: context)
        }
        if let size = paginate.size {
            let value = try await context.evaluate { scope throws(EvaluationFailure) in try size.value.value(in: scope)
            }
            rendered.description.query.append((size.name, String(value)))
        }
        return rendered
    }

    private func put<Checkpoint>(
        _ value: String, under parameter: PageParameter, into rendered: inout RenderedRequest,
        in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        switch parameter.place {
        case .query: rendered.description.query.append((parameter.name, value))
        case .body: try putIntoBody(value, parameter.name, &rendered, in: context)
        case .header:
            do throws(RequestFailure) {
                try rendered.description.setHeader(parameter.name, to: value)
            } catch {
                throw .definite(
                    StepFailure(
                        "the cursor can't be sent in a header: \(error.message)", service: requests.service?.name,
                        place: context.facts.place))
            }
        }
    }

    private func putIntoBody<Checkpoint>(
        _ value: String, _ name: String, _ rendered: inout RenderedRequest, in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        guard case .form = definition.body else {
            var object = JSONObject()
            if case .bytes(let bytes) = rendered.description.body {
                guard case .object(let own)? = try? JSON.parse(bytes) else {
                    throw .definite(
                        StepFailure(
                            "the cursor '\(name)' can't be put into the body, which is no JSON object",
                            service: requests.service?.name, place: context.facts.place))
                }
                object = own
            }
            object[name] = .string(value)
            var bytes: [UInt8] = []
            JSON.object(object).write(into: &bytes)
            rendered.description.body = .bytes(bytes)
            if rendered.description.headers[.contentType] == nil {
                rendered.description.headers[.contentType] = "application/json"
            }
            return
        }
        guard case .bytes(let bytes) = rendered.description.body else { return }
        let pairs = bytes.split(separator: UInt8(ascii: "&")).map { String(decoding: $0, as: UTF8.self) }
        let encoded = PipelineHTTP.PercentEncoding.query([(name, value)])
        let others = pairs.filter { !$0.hasPrefix(encoded.prefix { $0 != "=" } + "=") }
        rendered.description.body = .text((others + [encoded]).joined(separator: "&"))
    }

    // MARK: The answer

    private func next<Checkpoint>(
        by source: PaginateDefinition.Source, in answer: ServiceResponse, _ rendered: RenderedRequest,
        _ context: StageContext<Checkpoint>
    ) throws(StageFailure) -> String? {
        switch source {
        case .counted: return nil
        case .link(let relation):
            return LinkHeader.target(of: relation, in: answer.header("Link").joined(separator: ", "))
        case .selector(let selector):
            switch selector.lenientValue(in: answer) {
            case .null: return nil
            case .string(let text): return text
            case .number(let number): return number.literal
            // Some services say false for "no more".
            case .bool(false): return nil
            case let value:
                throw failure(
                    "\(selector.text) is \(value.kindName), which leads to no next page", answer, rendered, in: context)
            }
        }
    }

    private func hasMore(_ answer: ServiceResponse, _ condition: Selector?) -> Bool {
        guard let condition else { return true }
        switch condition.lenientValue(in: answer) {
        case .null, .bool(false): return false
        case .string(let text): return !text.isEmpty && text.lowercased() != "false"
        default: return true
        }
    }

    private func failure<Checkpoint>(
        _ message: String, _ answer: ServiceResponse, _ rendered: RenderedRequest, hint: String? = nil,
        in context: StageContext<Checkpoint>
    ) -> StageFailure {
        .definite(requests.failure(message, answer, of: rendered, hint: hint, in: context))
    }

    private static func message(_ failure: PagingFailure) -> String {
        switch failure {
        case .repeated(let place): "the pages lead in a circle: \(shown(place)) came before"
        case .samePage(let number): "page \(number) has the same items as the one before it"
        case .otherOrigin(let url):
            "the next page is at another origin, \(URLParts(url)?.origin ?? ""), and is not fetched"
        case .notURL(let text): "the next page has no http or https URL: \(shown(text))"
        }
    }

    private static func hint(_ failure: PagingFailure) -> String? {
        switch failure {
        case .repeated: "the service repeats itself, or pages in another way than \"next\" says"
        case .samePage: "the service seems not to know the parameter; see how it pages, and mend \"next\""
        case .otherOrigin:
            "\"credentials\": \"any-origin\" lets credentials go there, \"none\" sends none; or mend the service's url"
        case .notURL: nil
        }
    }

    /// Queries can hold what nobody knows to be secret.
    private static func shown(_ place: String) -> String {
        guard let mark = place.unicodeScalars.firstIndex(of: "?"), URLParts(place) != nil else {
            return "'\(place.prefix(80))'"
        }
        return "\(place[..<mark])?…"
    }
}
