/// The clock that leases run by: it can't be set, and it runs on while the machine sleeps.
package protocol LeaseClock: Sendable {
    /// Milliseconds since the machine started.
    var now: Int64 { get }
    /// Tells one start of the machine from another: a lease from before a restart is void.
    var bootID: String { get }
}
