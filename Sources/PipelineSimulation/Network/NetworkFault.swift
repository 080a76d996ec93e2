/// A fault of one exchange.
package enum NetworkFault: String, Sendable, Hashable, CaseIterable {
    /// No connection is made.
    case refused
    /// The request never arrives; the connection is reset.
    case lostRequest
    /// Only the start of the body arrives.
    case cutRequest
    /// The request has its effect, and the answer is lost.
    case lostAnswer
    /// The request arrives a second time, later; the first answer comes back.
    case duplicated
    /// Request or answer take seconds.
    case slow
    /// 429 or 503 with Retry-After, without effect.
    case overloaded
    /// 500, 502 or 504 before the request had an effect.
    case brokenBefore
    /// 500, 502 or 504 after it.
    case brokenAfter
    /// A whole answer with a body that is not what was promised, after the effect.
    case garbled
}

/// The quality of a network: the probability of a fault and which ones occur.
package struct NetworkWeather: Sendable {
    package var faultChance: Double
    package var faults: [NetworkFault]
    /// The longest time that a request or an answer is under way in a slow exchange, in milliseconds. Services that
    /// are asked whether a submit arrived answer wrongly while it is on its way: below the pause before a second look.
    package var slowest: Int

    package init(
        faultChance: Double = 0, faults: [NetworkFault] = NetworkFault.allCases, slowest: Int = 8000
    ) {
        self.faultChance = faultChance
        self.faults = faults
        self.slowest = slowest
    }

    /// Nothing goes wrong.
    package static let calm = NetworkWeather()
}
