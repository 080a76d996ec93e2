/// The fields of one sort of object, made once for all objects that are read by them.
package struct FieldTable: Sendable {
    package let fields: [any AnyField]
    /// Their names, in the same order.
    let names: [String]
    /// The places of the names that have a mark, by its bit.
    private let places: [[Int]]

    package init(_ fields: [any AnyField]) {
        self.fields = fields
        names = fields.map(\.name)
        var places = [[Int]](repeating: [], count: UInt64.bitWidth)
        for (place, name) in names.enumerated() { places[name.mark.trailingZeroBitCount].append(place) }
        self.places = places
    }

    /// Returns whether one of the fields has that name.
    func has(_ name: String) -> Bool { places[name.mark.trailingZeroBitCount].contains { names[$0] == name } }
}

extension String {
    /// One bit of 64, chosen by length and ends: names that are equal have the same, most others another.
    var mark: UInt64 {
        guard let first = utf8.first, let last = utf8.last else { return 1 }
        return 1 << UInt64((Int(first) &+ 5 &* Int(last) &+ 11 &* utf8.count) & 63)
    }
}
