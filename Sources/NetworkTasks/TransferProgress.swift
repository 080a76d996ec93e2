/// The progress of a transfer, in bytes, at one moment.
///
/// Totals are nil while they are not known: a server need not say how long its answer will be.
public struct TransferProgress: Sendable, Equatable {
    /// Bytes of the request's body that were handed to the network.
    public var sent: Int64
    /// Bytes of the answer's body that arrived.
    public var received: Int64
    /// Length of the request's body, zero without one.
    public var sendTotal: Int64?
    /// Length of the answer's body, as the server gave it.
    public var receiveTotal: Int64?

    /// The bytes so far, and of how many where that is known.
    public init(sent: Int64 = 0, received: Int64 = 0, sendTotal: Int64? = nil, receiveTotal: Int64? = nil) {
        self.sent = sent
        self.received = received
        self.sendTotal = sendTotal
        self.receiveTotal = receiveTotal
    }
}
