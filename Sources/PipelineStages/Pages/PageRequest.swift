import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// One page of a list: its request, and what its answer says.
struct PageRequest: Sendable {
    let requests: StageRequests
    @Indirect private(set) var definition: RequestDefinition
    /// Nil for a list of one page.
    @IndirectOptional private(set) var paginate: PaginateDefinition?
    let content: PageContent
    /// The meaning of a page without the JSON that was asked for: in a look-up, that another one may be better.
    var unreadable = AttemptFailure.Kind.definite

    /// A page that was answered.
    struct Page: Sendable {
        let items: [JSON]
        /// The number of items that it has; of a page of text, how many lines.
        let count: Int
        /// The items as JSON Lines: each compact and with a line feed after it. Or the lines of a text.
        let lines: [UInt8]
        let answer: ServiceResponse
        let rendered: RenderedRequest
        /// Of its body, as it came over the network.
        let bytesReceived: Int64
    }

    /// Fetches the page that the walk stands at, and moves the walk on.
    ///
    /// - Parameters:
    ///   - cursor: what led to the page, of its JSON type; after it what leads to the next one.
    ///   - options: changes how the request is sent.
    func fetch<Checkpoint>(
        _ walk: inout PageWalk, cursor: inout JSON?, in context: StageContext<Checkpoint>, role: String? = nil,
        limit: Int?, adjust: (inout Scope) -> Void = { _ in }, options: (inout ExchangeOptions) -> Void = { _ in }
    ) async throws(StageFailure) -> Page {
        let first = try await requests.render(
            withCursorInBody(at: walk, cursor), in: context, role: role, adjust: adjust)
        var rendered = try await placed(first, at: walk, cursor, in: context)
        rendered.items = content.items
        // Each page is a request of its own; the place in the walk is the same over retries and restarts.
        if walk.pages > 0 { rendered.key += "-page-\(walk.pages + 1)" }
        let response: HTTPExchangeResponse
        switch await requests.send(rendered, in: context, adjust: options) {
        case .failure(let failure): throw requests.failure(failure, of: rendered, in: context)
        case .success(let answered): response = answered
        }
        let page = try await read(response, rendered, isFirst: walk.pages == 0, in: context)
        let isBound =
            definition.credentials == .service
            || first.description.bodyHoldsSecret && definition.credentials != .anyOrigin
        let origin = isBound ? URLParts(first.description.url)?.origin ?? "" : nil
        cursor = try await advance(&walk, after: page, limit: limit, origin: origin, in: context)
        return page
    }

    private func read<Checkpoint>(
        _ response: HTTPExchangeResponse, _ rendered: RenderedRequest, isFirst: Bool,
        in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Page {
        let answer = try await requests.judge(response, of: rendered, in: context)
        let items: PageItems
        switch content {
        case .items(let selected): items = selected
        case .text(let skipLines):
            let text = PageText(answer.body, isFirst: isFirst, skipLines: try await context.value(of: skipLines))
            return Page(
                items: [], count: text.count, lines: text.kept, answer: answer, rendered: rendered,
                bytesReceived: response.bytesReceived)
        }
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
            items: found, count: found.count, lines: lines, answer: answer, rendered: rendered,
            bytesReceived: response.bytesReceived)
    }

    /// Moves the walk on; gives what leads to the next page, of its JSON type.
    private func advance<Checkpoint>(
        _ walk: inout PageWalk, after page: Page, limit: Int?, origin: String?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> JSON? {
        let answer = page.answer
        guard let paginate else {
            try? walk.advance(after: PageFacts(url: answer.url, itemCount: page.count), by: .url, origin: nil)
            return nil
        }
        let next = try next(by: paginate, in: answer, page.rendered, context)
        let facts = PageFacts(
            url: answer.url.isEmpty ? page.rendered.description.url : answer.url, itemCount: page.count,
            next: next.map { $0.string ?? $0.text },
            hasMore: try await hasMore(answer, paginate.condition, in: context),
            content: PageFingerprint(answer.body))
        do throws(PagingFailure) {
            try walk.advance(after: facts, by: paginate.rule, limit: limit, origin: origin) { place in
                context.digest(Array(place.utf8))
            }
            return next
        } catch {
            throw failure(Self.message(error), answer, page.rendered, hint: Self.hint(error), in: context)
        }
    }

    // MARK: The request

    private func placed<Checkpoint>(
        _ first: RenderedRequest, at walk: PageWalk, _ cursor: JSON?, in context: StageContext<Checkpoint>
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
            try put(value, cursor, under: parameter, into: &rendered, in: context)
        }
        if let size = paginate.size {
            let value = try await context.evaluate { scope throws(EvaluationFailure) in try size.value.value(in: scope)
            }
            rendered.description.query.append((size.name, String(value)))
        }
        return rendered
    }

    private func put<Checkpoint>(
        _ value: String, _ cursor: JSON?, under parameter: PageParameter, into rendered: inout RenderedRequest,
        in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        switch parameter.place {
        case .query: rendered.description.query.append((parameter.name, value))
        case .body:
            switch definition.body {
            case .none: putIntoForm(cursor ?? .string(value), value, parameter.name, &rendered)
            case .json(let template) where !template.isObject:
                try putIntoBody(cursor ?? .string(value), parameter.name, &rendered, in: context)
            case .json, .form, .text, .file, .part: break
            }
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

    /// The request with the cursor in its own body, where one belongs there: before it is rendered, so that what is streamed
    /// into a body stays in it.
    private func withCursorInBody(at walk: PageWalk, _ cursor: JSON?) -> RequestDefinition {
        var definition = definition
        if walk.pages > 0 { definition.uses.keepCredentials(of: definition) }
        guard let (parameter, value) = paginate?.rule.parameter(at: walk.position), parameter.place == .body else {
            return definition
        }
        let cursor = cursor ?? .string(value)
        switch definition.body {
        case .json(let template): definition.body = .json(template.setting(parameter.name, to: cursor))
        case .form(let table): definition.body = .form(table.setting(parameter.name, to: value))
        case .none, .text, .file, .part: break
        }
        return definition
    }

    /// Puts the cursor into the form that a decorator makes the body, or else into a body of its own.
    private func putIntoForm(_ cursor: JSON, _ value: String, _ name: String, _ rendered: inout RenderedRequest) {
        // The innermost is the one that is sent.
        if let place = rendered.decorators.firstIndex(where: { $0 is Multipart }),
            let form = rendered.decorators[place] as? Multipart
        {
            rendered.decorators[place] = form.setting(name, to: value)
        } else {
            rendered.description.body = .text(JSON.object([name: cursor]).text)
            rendered.description.setDefaultType("application/json", beside: rendered.decorators)
        }
    }

    /// Puts the cursor into an object that an expression gave as a whole.
    private func putIntoBody<Checkpoint>(
        _ cursor: JSON, _ name: String, _ rendered: inout RenderedRequest, in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        guard case .bytes(let bytes) = rendered.description.body, case .object(var object)? = try? JSON.parse(bytes)
        else {
            throw .definite(
                StepFailure(
                    "the cursor '\(name)' can't be put into the body, which is no JSON object",
                    service: requests.service?.name, place: context.facts.place))
        }
        object[name] = cursor
        rendered.description.body = .text(JSON.object(object).text)
    }

    // MARK: The answer

    /// Returns what leads to the next page: a URL, or a cursor, which in a body may be any JSON. Nil on the last page.
    private func next<Checkpoint>(
        by paginate: PaginateDefinition, in answer: ServiceResponse, _ rendered: RenderedRequest,
        _ context: StageContext<Checkpoint>
    ) throws(StageFailure) -> JSON? {
        switch paginate.source {
        case .counted: return nil
        case .link(let relation):
            return LinkHeader.target(of: relation, in: answer.header("Link").joined(separator: ", ")).map(JSON.string)
        case .selector(let selector):
            let value = selector.lenientValue(in: answer)
            switch value {
            case .null: return nil
            case .string, .number: return value
            // Some services say false for "no more".
            case .bool(false): return nil
            case .array(let elements) where elements.isEmpty: return nil
            case .object(let members) where members.isEmpty: return nil
            case .array, .object:
                if case .cursor(let parameter) = paginate.rule, parameter.place == .body { return value }
            case .bool: break
            }
            throw failure(
                "\(selector.text) is \(value.kindName), which leads to no next page", answer, rendered, in: context)
        }
    }

    private func hasMore<Checkpoint>(
        _ answer: ServiceResponse, _ condition: PaginateDefinition.Condition?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> Bool {
        switch condition {
        case nil: return true
        case .expression(let expression): return try await requests.holds(expression, answer, in: context)
        case .selector(let selector):
            switch selector.lenientValue(in: answer) {
            case .null, .bool(false): return false
            case .string(let text): return !text.isEmpty && text.lowercased() != "false"
            default: return true
            }
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
        case .samePages(let count): "\(count) pages in a row are the same"
        case .otherOrigin(let url):
            "the next page is at another origin, \(URLParts(url)?.origin ?? ""), and is not fetched"
        case .notURL(let text): "the next page has no http or https URL: \(shown(text))"
        }
    }

    private static func hint(_ failure: PagingFailure) -> String? {
        switch failure {
        case .repeated: "the service repeats itself, or pages in another way than \"next\" says"
        case .samePages: "the service seems not to know the parameter; see how it pages, and mend \"next\""
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
