/// The order in which requests that wait for their turn at a service go; those of the same as they came.
package enum Urgency: Int, Sendable, Hashable, Comparable {
    case usual
    /// Of a stage that renews something for one that had waited for its turn.
    case renewal
    /// Of one that has waited for its turn and goes on with what was renewed, which expires. Before the others that renew
    /// something: else nothing that they give would be good when its turn comes.
    case renewed

    package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
}
