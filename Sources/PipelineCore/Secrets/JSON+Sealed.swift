package import JSONPath

extension JSON {
    /// The value as a person may see it: a sealed piece is shown as `‹secret:NAME›`.
    package var withoutSealed: JSON {
        guard holdsSealed else { return self }
        return mapped(
            string: { text in
                .string(
                    SealedPiece.parts(of: text).reduce(into: "") { shown, part in
                        switch part {
                        case .plain(let plain): shown += plain
                        case .sealed(let piece): shown += piece.shown
                        }
                    })
            }, number: { .number($0) })
    }

    /// True if something in the value may be sealed.
    package var holdsSealed: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): SealedPiece.mayStand(in: text)
        case .array(let elements): elements.contains(where: \.holdsSealed)
        case .object(let members):
            members.contains { SealedPiece.mayStand(in: $0.name) || $0.value.holdsSealed }
        }
    }

    /// The pieces of the value that are sealed, or were not opened.
    var sealedPieces: [SealedPiece] {
        switch self {
        case .null, .bool, .number: []
        case .string(let text):
            SealedPiece.mayStand(in: text)
                ? SealedPiece.parts(of: text).compactMap { if case .sealed(let piece) = $0 { piece } else { nil } } : []
        case .array(let elements): elements.flatMap(\.sealedPieces)
        case .object(let members): members.flatMap { JSON.string($0.name).sealedPieces + $0.value.sealedPieces }
        }
    }

    /// The value with each string and number made again; a name of a member is changed like a string.
    func mapped(string: (String) -> JSON, number: (JSONNumber) -> JSON) -> JSON {
        switch self {
        case .null, .bool: self
        case .string(let text): string(text)
        case .number(let value): number(value)
        case .array(let elements): .array(elements.map { $0.mapped(string: string, number: number) })
        case .object(let members):
            .object(
                JSONObject(
                    members.map { member in
                        (string(member.name).string ?? member.name, member.value.mapped(string: string, number: number))
                    }))
        }
    }
}
