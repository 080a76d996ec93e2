package import JSONPath

extension JSON {
    /// The texts in the value, at any depth, that are long enough to be found inside of others; a piece that is sealed is
    /// none.
    package var longTexts: [String] {
        switch self {
        case .null, .bool, .number: []
        case .string(let text):
            text.utf8.count >= SecretPatterns.shortest && !SealedPiece.mayStand(in: text) ? [text] : []
        case .array(let elements): elements.flatMap(\.longTexts)
        case .object(let members): members.flatMap(\.value.longTexts)
        }
    }

    /// The texts and numbers in the value, at any depth.
    package var leafTexts: [String] {
        switch self {
        case .null, .bool: []
        case .string(let text): [text]
        case .number(let number): [number.literal]
        case .array(let elements): elements.flatMap(\.leafTexts)
        case .object(let members): members.flatMap(\.value.leafTexts)
        }
    }

    /// The texts that give the value away wherever one of them is shown: itself, the elements of an array, and of an
    /// object those of its values that are too long to be words of everyday.
    package var secretTexts: [String] {
        switch self {
        case .null, .bool: []
        case .string(let text): [text]
        case .number(let number): [number.literal]
        case .array(let elements): elements.flatMap(\.secretTexts)
        case .object(let members): [text] + members.flatMap { $0.value.secretTexts.filter { $0.utf8.count >= 8 } }
        }
    }
}
