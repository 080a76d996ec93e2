package import PipelineCore
package import PipelineHTTP

/// A service at the far end of a simulated network.
package protocol SimulatedService: Sendable {
    /// Hears of a request when a process hands it to the network, before it can have arrived.
    func willReceive(_ request: RequestDescription, from owner: OwnerID)
    /// Takes a request that has arrived and gives the answer; all its effects happen here, at once.
    func answer(_ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse
}

/// A request as it arrives.
package struct ArrivedRequest: Sendable {
    package let description: RequestDescription
    /// The bytes of the body that came; fewer than were announced when the connection broke.
    package let body: [UInt8]
    /// True if all of it came.
    package let isWhole: Bool

    /// Path and query of the URL.
    package var path: String {
        let parts = description.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 4 ? "/" + parts[3] : "/"
    }
}
