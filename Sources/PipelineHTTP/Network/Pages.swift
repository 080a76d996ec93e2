/// The pages of a ``Paginated`` template, one request for each.
public struct Pages<Base: RequestTemplate>: AsyncSequence, Sendable {
    public typealias Element = Base.Output

    let network: Network
    let template: Paginated<Base>

    /// A server that leads to the same page again is told apart from one with more pages. A next page at another origin
    /// is refused with a ``PagingFailure``: the credentials of the first one would go there.
    public struct RepeatedPageError: Error, Sendable, Equatable {
        /// The URL that came a second time.
        public let url: String
        /// The mistake in one sentence.
        public var title: String { "The pages lead back to \(url)" }
        /// A way to mend it.
        public var hint: String { "The service repeats a page; its way of paging may be another one." }
    }

    public struct Iterator: AsyncIteratorProtocol {
        let network: Network
        var template: Paginated<Base>?
        /// The reason why there is no next page, told when that one is asked for.
        var obstacle: PagingFailure?

        public mutating func next() async throws -> Base.Output? {
            guard let current = template else {
                defer { obstacle = nil }
                switch obstacle {
                case .repeated(let url): throw RepeatedPageError(url: URLParts(url)?.path ?? url)
                case .some(let failure): throw failure
                case nil: return nil
                }
            }
            let url = try current.description(base: network.baseURL).absoluteURL()
            let (page, response) = try await network.answer(to: current)
            do {
                template = try current.nextPage(after: page, response: response, url: url)
            } catch {
                template = nil
                obstacle = error
            }
            return page
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(network: network, template: template)
    }
}
