/// Finds members by name in a large object: open addressing over positions, four bytes a slot, names not copied.
///
/// Hashes are seeded for each process, so that a server can't choose names that collide.
struct JSONNameIndex: Sendable {
    /// Objects with more members than this have an index; below it a scan is faster and smaller.
    static let threshold = 16

    private var slots: [Int32]
    private static let free: Int32 = -1

    init(_ members: [(name: String, value: JSON)]) {
        slots = []
        rebuild(members)
    }

    func position(of name: String, in members: [(name: String, value: JSON)]) -> Int? {
        let mask = slots.count - 1
        var slot = name.scalarHash & mask
        while slots[slot] != Self.free {
            let position = Int(slots[slot])
            if members[position].name.hasSameScalars(as: name) { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Takes up the last member, whose name is not in the index yet.
    mutating func insertLast(of members: [(name: String, value: JSON)]) {
        if members.count * 4 > slots.count * 3 {
            rebuild(members)
        } else {
            insert(members[members.count - 1].name, at: members.count - 1)
        }
    }

    private mutating func rebuild(_ members: [(name: String, value: JSON)]) {
        var capacity = 32
        while capacity < members.count * 2 { capacity *= 2 }
        slots = Array(repeating: Self.free, count: capacity)
        for (position, member) in members.enumerated() { insert(member.name, at: position) }
    }

    private mutating func insert(_ name: String, at position: Int) {
        let mask = slots.count - 1
        var slot = name.scalarHash & mask
        while slots[slot] != Self.free { slot = (slot + 1) & mask }
        slots[slot] = Int32(truncatingIfNeeded: position)
    }
}
