/// A template whose answer is one page of many.
public struct Paginated<Base: RequestTemplate>: TemplateDecorator {
    public typealias Output = Base.Output

    /// The template of the first page.
    public let base: Base
    /// The pager that says how pages follow each other.
    public let pager: Pager<Base.Output>
    /// The page that it asks for.
    package let walk: PageWalk

    init(_ base: Base, pager: Pager<Base.Output>, walk: PageWalk = PageWalk()) {
        self.base = base
        self.pager = pager
        self.walk = walk
    }

    private var url: String? { if case .url(let url) = walk.position { url } else { nil } }

    private var parameter: (parameter: PageParameter, value: String)? { pager.rule.parameter(at: walk.position) }

    public var path: String { url ?? base.path }

    public var query: [(name: String, value: String)] {
        if url != nil { return [] }
        guard let (parameter, value) = parameter, parameter.place == .query else { return base.query }
        return base.query.filter { $0.name != parameter.name } + [(parameter.name, value)]
    }

    /// The template of the next page; nil after the last.
    func nextPage(
        after page: Output, response: HTTPExchangeResponse, url: String
    ) throws(PagingFailure) -> Paginated? {
        var (walk, facts) = (walk, pager.facts(page, response))
        facts.url = response.url.isEmpty ? url : response.url
        try walk.advance(after: facts, by: pager.rule, origin: URLParts(url)?.origin ?? "")
        return walk.isFinished ? nil : Paginated(base, pager: pager, walk: walk)
    }
}

extension RequestTemplate {
    /// Makes the template one that ``Network/pages(of:)`` can follow.
    ///
    /// Of a pager's parameters those in the query are put in; a template that wants them elsewhere reads
    /// ``Paginated/walk``.
    public func paginated(by pager: Pager<Output>) -> Paginated<Self> {
        Paginated(self, pager: pager)
    }
}
