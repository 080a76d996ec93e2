/// A process that owns jobs, by a name of its own.
public struct OwnerID: Sendable, Hashable {
    /// The text of it, which no other run of a program has.
    public let text: String
    /// The name of a process, made by its program, for example from the host, the process number and a random number.
    public init(_ text: String) { self.text = text }
}
