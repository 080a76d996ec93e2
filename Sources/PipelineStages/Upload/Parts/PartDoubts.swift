/// The parts of which nobody knows whether the service has them: they were sent, and no response said what became of
/// them.
struct PartDoubts: Sendable, Equatable {
    /// Their numbers in order; nil for any part, as after a kill.
    var numbers: [Int]? { known?.sorted() }

    private var known: Set<Int>?

    init(_ numbers: [Int]?) { known = numbers.map { Set($0) } }

    func contains(_ number: Int) -> Bool { known?.contains(number) ?? true }

    mutating func insert(_ number: Int) { known?.insert(number) }

    mutating func remove(_ number: Int) { known?.remove(number) }
}
