/// The captures of other stages that a stage reads.
struct ReadCaptures: Sendable {
    /// Those that its work and its settings read, by stage; nil for a name that is computed.
    var names: [String: Set<String?>] = [:]
    /// The stages whose captures `forEach` reads.
    var elements: Set<String> = []
    /// Those of them whose author says until when their captures are good. Else each item is as good as its own link.
    var expiringElements: Set<String> = []
}
