/// The scalars of a pattern and the place in them; both parsers stand on it.
struct RegexReader {
    private let scalars: [Unicode.Scalar]
    private(set) var position = 0
    /// The number of groups that are open.
    private var depth = 0

    /// Groups nested deeper than this are refused before the parser recurses.
    private static let deepestNesting = 200

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }
    var isAtEnd: Bool { position == scalars.count }

    func peek(_ distance: Int) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    mutating func advance() { position += 1 }

    mutating func next() -> Unicode.Scalar? {
        guard let scalar = current else { return nil }
        position += 1
        return scalar
    }

    /// Takes this text when the pattern goes on with it.
    mutating func take(_ text: String) -> Bool {
        guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
        position += text.unicodeScalars.count
        return true
    }

    /// Goes back to, or on to, a position that was read from ``position``.
    mutating func move(to position: Int) { self.position = position }

    mutating func openGroup(at start: Int) throws(LinearRegexError) {
        depth += 1
        if depth > Self.deepestNesting { throw error("groups nested deeper than \(Self.deepestNesting)", at: start) }
    }

    mutating func closeGroup() { depth -= 1 }

    /// A decimal number, at most 1,000,000: more is too large for any use.
    mutating func number() -> Int? {
        var value: Int?
        while let scalar = current, (0x30...0x39).contains(scalar.value) {
            value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), 1_000_000)
            position += 1
        }
        return value
    }

    func error(_ message: String, at position: Int, hint: String? = nil) -> LinearRegexError {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[..<min(position, scalars.count)])
        return LinearRegexError(offset: String(view).utf8.count, message: message, hint: hint)
    }

    /// The mask of `\p{NAME}` or `\P{NAME}`; the position stands on `{`.
    mutating func categories(negated: Bool) throws(LinearRegexError) -> UInt32 {
        let start = position - 2
        guard take("{") else { throw error("“{” is missing after \\p", at: position, hint: "write it like \\p{Lu}") }
        var name = ""
        while let scalar = current, scalar != "}", name.utf8.count < 20 {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard take("}"), let mask = RegexCategory.mask(named: name) else {
            throw error("no Unicode category “\(name)”", at: start, hint: "they are named like L, Lu, Nd or P")
        }
        return negated ? RegexCategory.all & ~mask : mask
    }
}
