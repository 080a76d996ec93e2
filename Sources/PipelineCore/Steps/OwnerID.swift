/// A process that owns jobs, by a name of its own.
public struct OwnerID: Sendable, Hashable {
    public let text: String
    public init(_ text: String) { self.text = text }
}
