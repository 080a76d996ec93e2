/// A turn at a service with limits: one of the exchanges that it may have at a time, begun at its pace.
///
/// Whoever has to do something just before a request goes out, such as sign it, or note durably that it goes, takes the
/// turn first and starts the exchange with it (``ExchangeOptions/turn``). It ends with the last reference.
public final class ServiceTurn: Sendable {
    private let end: @Sendable () -> Void

    /// A turn; `end` is called once, when nobody holds it any more.
    public init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
