/// Unicode general categories as bits of a mask, by their names in `\p{…}`.
enum RegexCategory {
    /// The mask of a name such as `L`, `Lu` or `Nd` (RFC 9485, `IsCategory`); nil when there is none of that name.
    static func mask(named name: String) -> UInt32? {
        if let exact = names.firstIndex(of: name) { return 1 << UInt32(exact) }
        guard name.unicodeScalars.count == 1 else { return nil }
        var mask: UInt32 = 0
        for (position, long) in names.enumerated() where long.hasPrefix(name) { mask |= 1 << UInt32(position) }
        return mask == 0 ? nil : mask
    }

    /// Every category, for `\P{…}`.
    static let all: UInt32 = (1 << 30) - 1

    /// In the order of the bits. `Cs` has a bit but no name in RFC 9485: no scalar has it.
    fileprivate static let names = [
        "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
        "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn",
    ]
}

extension Unicode.GeneralCategory {
    /// The bit of this category.
    var bit: UInt32 {
        switch self {
        case .uppercaseLetter: 1 << 0
        case .lowercaseLetter: 1 << 1
        case .titlecaseLetter: 1 << 2
        case .modifierLetter: 1 << 3
        case .otherLetter: 1 << 4
        case .nonspacingMark: 1 << 5
        case .spacingMark: 1 << 6
        case .enclosingMark: 1 << 7
        case .decimalNumber: 1 << 8
        case .letterNumber: 1 << 9
        case .otherNumber: 1 << 10
        case .connectorPunctuation: 1 << 11
        case .dashPunctuation: 1 << 12
        case .openPunctuation: 1 << 13
        case .closePunctuation: 1 << 14
        case .initialPunctuation: 1 << 15
        case .finalPunctuation: 1 << 16
        case .otherPunctuation: 1 << 17
        case .mathSymbol: 1 << 18
        case .currencySymbol: 1 << 19
        case .modifierSymbol: 1 << 20
        case .otherSymbol: 1 << 21
        case .spaceSeparator: 1 << 22
        case .lineSeparator: 1 << 23
        case .paragraphSeparator: 1 << 24
        case .control: 1 << 25
        case .format: 1 << 26
        case .privateUse: 1 << 27
        case .unassigned: 1 << 28
        case .surrogate: 1 << 29
        @unknown default: 1 << 28
        }
    }
}
