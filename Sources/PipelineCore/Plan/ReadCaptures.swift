/// The captures of other stages that a stage reads.
struct ReadCaptures: Sendable {
    /// Those that its work and its settings read, by stage; nil for a name that is computed.
    var names: [String: Set<String?>] = [:]
    /// The stages whose captures `forEach` reads.
    var elements: Set<String> = []
    /// Those of them whose author says until when their captures are good. Else each item is as good as its own link.
    var expiringElements: Set<String> = []
}

/// The captures of a stage that some expression of the document reads; nil for a name that is computed.
struct NamesRead: Sendable {
    private(set) var all: Set<String?> = []
    /// Those of them that somebody who reads them can't do without.
    private(set) var needed: Set<String?> = []

    mutating func add(_ name: String?, _ use: ReferenceUse) {
        all.insert(name)
        if !use.reference.toleratesNull { needed.insert(name) }
    }
}
