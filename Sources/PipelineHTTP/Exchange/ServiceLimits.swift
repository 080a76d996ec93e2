/// The limits of what a service may be asked at a time. All exchanges of one transport that name the same service share
/// it.
public struct ServiceLimits: Sendable, Equatable {
    /// Tells services apart; any text.
    public var service: String
    /// Exchanges at a time with one origin; nil for no limit.
    public var connections: Int?
    /// Requests begun per second, spread evenly; nil for no limit. A redirect that is followed counts and does not wait.
    public var requestsPerSecond: Double?
    /// Bytes of bodies sent per second, all exchanges together; nil for no limit.
    public var sendRate: Int64?
    /// Bytes of bodies received per second, all exchanges together; nil for no limit.
    public var receiveRate: Int64?
    /// The urgency of the exchange: from 0, it goes before those that wait with less, and after those with as much.
    package var urgency = 0

    /// Limits that all requests with the same service name share; rates in bytes per second.
    public init(
        service: String, connections: Int? = nil, requestsPerSecond: Double? = nil, sendRate: Int64? = nil,
        receiveRate: Int64? = nil
    ) {
        self.service = service
        self.connections = connections
        self.requestsPerSecond = requestsPerSecond
        self.sendRate = sendRate
        self.receiveRate = receiveRate
    }
}

/// The rule by which a transfer counts as stalled: less than a rate for a time, while a body is on its way.
///
/// Waiting for a connection, for the head of an answer, or for a rate limit of our own is no stall; nor is an answer of unknown
/// length that is no file, as long as something of it comes.
public struct StallRule: Sendable, Equatable {
    /// The rate below which a transfer counts as stalled.
    public var bytesPerSecond: Int64
    /// The time for which it may be below the rate.
    public var time: Duration

    /// A transfer below this many bytes per second for this long has failed.
    public init(bytesPerSecond: Int64, time: Duration) {
        self.bytesPerSecond = bytesPerSecond
        self.time = time
    }
}
