import NetworkTasks

/// A request of other threads to the thread that owns libcurl.
enum CurlCommand: Sendable {
    case start(CurlExchange)
    case cancel(UInt64)
    case takeTurn(TurnRequest)
    case endTurn(UInt64)
    case stop

    /// Ends as cancelled what it would begin.
    func refuse(_ reason: (CurlExchange) -> ExchangeFailure = { _ in .cancelled() }) {
        switch self {
        case .start(let exchange): exchange.completion.finish(.failure(reason(exchange)))
        case .takeTurn(let request): request.completion.finish(.failure(.cancelled()))
        case .cancel, .endTurn, .stop: break
        }
    }
}

/// Somebody who waits for a turn at a service.
struct TurnRequest: Sendable {
    let url: String
    let limits: ServiceLimits
    let completion: NetworkTaskCompletion<Void, ExchangeFailure>

    var id: UInt64 { completion.task.id }
}
