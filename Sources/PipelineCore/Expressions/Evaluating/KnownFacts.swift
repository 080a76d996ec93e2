package import JSONPath

/// The facts that expressions of one scope may read: those of a whole job, which all of its scopes share, and some of its
/// own over them. To add one costs the same however many the job has.
package struct KnownFacts: Sendable, ExpressibleByDictionaryLiteral {
    private let shared: [Fact: JSON]
    private var own: [Fact: JSON] = [:]
    /// The shared facts that do not hold in the scope.
    private var dropped: Set<Fact> = []

    /// - Parameter shared: by what they are about, as they were journaled.
    package init(_ shared: [Fact: JSON] = [:]) { self.shared = shared }

    package init(dictionaryLiteral elements: (Fact, JSON)...) {
        self.init(Dictionary(elements) { $1 })
    }

    /// The fact's value; nil for one that was not found out. Nil that is set drops one of the job's as well.
    package subscript(fact: Fact) -> JSON? {
        get { own[fact] ?? (dropped.contains(fact) ? nil : shared[fact]) }
        set {
            own[fact] = newValue
            if newValue == nil { dropped.insert(fact) }
        }
    }

    /// Adds facts of the scope's own.
    mutating func add(_ facts: [Fact: JSON]) {
        if own.isEmpty { own = facts } else { own.merge(facts) { $1 } }
    }
}
