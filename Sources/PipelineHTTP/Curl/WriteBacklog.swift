/// The exchanges that have received something which is not yet written; belongs to the thread of ``CurlLoop``.
final class WriteBacklog {
    private var exchanges: [CurlExchange] = []

    /// Notes one that has something.
    func note(_ exchange: CurlExchange) {
        if exchanges.last !== exchange { exchanges.append(exchange) }
    }

    /// Those since the last call; some of them may have written it meanwhile.
    func takeAll() -> [CurlExchange] {
        guard !exchanges.isEmpty else { return [] }
        defer { exchanges = [] }
        return exchanges
    }
}
