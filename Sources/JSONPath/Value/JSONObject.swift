/// The members of a JSON object in the order in which the document has them.
///
/// Equality ignores the order, as JSON does. Names are unique: a later value for a name replaces the earlier in place.
/// Names are compared scalar by scalar, without normalization. Small objects are searched name by name, larger ones by
/// an index.
public struct JSONObject: Sendable {
    /// The members in order.
    public private(set) var members: [(name: String, value: JSON)]
    private var index: JSONNameIndex?

    /// An object without members.
    public init() { members = [] }
    /// An object from names and values; of equal names the last value counts, at the place of the first.
    public init(_ members: some Sequence<(String, JSON)>) {
        self.init()
        self.members.reserveCapacity(members.underestimatedCount)
        for (name, value) in members { insert(name, value) }
    }

    /// The number of members.
    public var count: Int { members.count }
    /// True if there is no member.
    public var isEmpty: Bool { members.isEmpty }
    /// The names in order.
    public var names: [String] { members.map(\.name) }

    /// The value of a member; setting nil removes it, setting a new name appends it.
    public subscript(name: String) -> JSON? {
        get { position(of: name).map { members[$0].value } }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): remove(at: position)
            case (nil, let value?): append(name, value)
            case (nil, nil): break
            }
        }
    }

    /// Returns where a member stands in ``members``; nil when there is none of that name.
    public func position(of name: String) -> Int? {
        if let index { return index.position(of: name, in: members) }
        return members.firstIndex { $0.name.hasSameScalars(as: name) }
    }

    /// Sets a member and says whether the name is new.
    @discardableResult
    mutating func insert(_ name: String, _ value: JSON) -> Bool {
        if let position = position(of: name) {
            members[position].value = value
            return false
        }
        append(name, value)
        return true
    }

    private mutating func append(_ name: String, _ value: JSON) {
        members.append((name, value))
        if index != nil {
            index?.insertLast(of: members)
        } else if members.count > JSONNameIndex.threshold {
            index = JSONNameIndex(members)
        }
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        index = members.count > JSONNameIndex.threshold ? JSONNameIndex(members) : nil
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.name] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in members {
            var member = Hasher()
            member.combine(name.scalarHash)
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    /// Gives the members in order.
    public func makeIterator() -> IndexingIterator<[(name: String, value: JSON)]> { members.makeIterator() }
}
