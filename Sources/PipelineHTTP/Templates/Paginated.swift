/// A template whose answer is one page of many.
public struct Paginated<Base: RequestTemplate>: TemplateDecorator {
    public typealias Output = Base.Output

    public let base: Base
    public let pager: Pager<Base.Output>
    /// Replaces one parameter of the base's query.
    let parameter: (name: String, value: String)?
    /// Replaces base URL, path and query.
    let url: String?

    init(
        _ base: Base, pager: Pager<Base.Output>, parameter: (name: String, value: String)? = nil, url: String? = nil
    ) {
        self.base = base
        self.pager = pager
        self.parameter = parameter
        self.url = url
    }

    public var path: String { url ?? base.path }

    public var query: [(name: String, value: String)] {
        if url != nil { return [] }
        guard let parameter else { return base.query }
        return base.query.filter { $0.name != parameter.name } + [parameter]
    }

    /// The template of the next page; nil after the last.
    func nextPage(after page: Output, response: HTTPExchangeResponse, count: Int) -> Paginated? {
        switch pager.next(page, response, count) {
        case .end: nil
        case .parameter(let name, let value): Paginated(base, pager: pager, parameter: (name, value))
        case .url(let target):
            CurlURL.resolve(target, against: response.url).map { Paginated(base, pager: pager, url: $0) }
        }
    }
}

extension RequestTemplate {
    /// Makes the template one that ``Network/pages(of:)`` can follow.
    public func paginated(by pager: Pager<Output>) -> Paginated<Self> {
        Paginated(self, pager: pager)
    }
}
