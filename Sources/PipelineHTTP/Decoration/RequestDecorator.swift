/// Changes the description of a request; never sends.
///
/// The builder calls it, in the order of the phases and inside one from the innermost out: what an inner decorator or
/// the request itself has said is already there, and wins.
public protocol RequestDecorator: Sendable {
    var phase: DecorationPhase { get }
    func decorate(_ request: inout RequestDescription, in context: DecorationContext) async throws(RequestFailure)
}
