/// The pages of a ``Paginated`` template, one request for each.
public struct Pages<Base: RequestTemplate>: AsyncSequence, Sendable {
    public typealias Element = Base.Output

    let network: Network
    let template: Paginated<Base>

    /// A server that leads to the same page again is told apart from one with more pages.
    public struct RepeatedPageError: Error, Sendable, Equatable {
        public let url: String
        public var title: String { "The pages lead back to \(url)" }
        public var hint: String { "The service repeats a page; its way of paging may be another one." }
    }

    public struct Iterator: AsyncIteratorProtocol {
        let network: Network
        var template: Paginated<Base>?
        var count = 0
        var seen: Set<String> = []

        public mutating func next() async throws -> Base.Output? {
            guard let current = template else { return nil }
            let url = try current.description(base: network.baseURL).absoluteURL()
            guard seen.insert(url).inserted else { throw RepeatedPageError(url: URLParts(url)?.path ?? "") }
            let (page, response) = try await network.answer(to: current)
            count += 1
            template = current.nextPage(after: page, response: response, count: count)
            return page
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(network: network, template: template)
    }
}
