/// A process that owns jobs, by a name of its own.
public struct OwnerID: Sendable, Hashable {
    /// The text of it, which no other run of a program has.
    public let text: String
    package init(_ text: String) { self.text = text }
}
