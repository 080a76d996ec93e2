/// A pattern as instructions for ``RegexMachine`` (Thompson's construction, as in R. Cox, "Regular Expression Matching:
/// the Virtual Machine Approach").
struct RegexProgram: Sendable {
    enum Instruction: Sendable {
        case scalar(Unicode.Scalar)
        case foldedScalar(Unicode.Scalar)
        /// A scalar of a set, by its place in ``sets``.
        case set(Int)
        case assertion(RegexAssertion)
        /// Goes on at both, the first preferred.
        case split(Int, Int)
        case jump(Int)
        /// Notes the offset in a slot.
        case save(Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [RegexScalarSet] = []
    /// Two for each capturing group and two for the whole.
    let slotCount: Int
    /// See ``firstBytes(of:_:)``.
    private(set) var firstBytes: [Bool]?
    private var work = 0

    /// Larger programs are refused: repeated groups with large bounds multiply.
    static let largestSize = 10_000

    init(_ pattern: RegexPattern, groupCount: Int) throws(LinearRegexError) {
        slotCount = 2 * (groupCount + 1)
        try append(pattern)
        try emit(.match)
        firstBytes = Self.firstBytes(of: instructions, sets)
    }

    private mutating func append(_ pattern: RegexPattern) throws(LinearRegexError) {
        try count()
        switch pattern {
        case .scalar(let scalar): try emit(.scalar(scalar))
        case .foldedScalar(let scalar): try emit(.foldedScalar(scalar))
        case .assertion(let assertion): try emit(.assertion(assertion))
        case .set(let set):
            sets.append(set)
            try emit(.set(sets.count - 1))
        case .sequence(let parts):
            for part in parts { try append(part) }
        case .alternatives(let branches): try append(alternatives: branches)
        case .repetition(let part, let bounds): try append(part, bounds)
        case .capture(let part, let number):
            try emit(.save(2 * number))
            try append(part)
            try emit(.save(2 * number + 1))
        }
    }

    private mutating func append(alternatives branches: [RegexPattern]) throws(LinearRegexError) {
        var jumps: [Int] = []
        for branch in branches.dropLast() {
            let split = try emit(.jump(0))
            try append(branch)
            jumps.append(try emit(.jump(0)))
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = branches.last { try append(last) }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func append(_ part: RegexPattern, _ bounds: RegexBounds) throws(LinearRegexError) {
        guard let maximum = bounds.maximum else { return try appendLoop(part, bounds) }
        for _ in 0..<bounds.minimum { try append(part) }
        var splits: [Int] = []
        for _ in bounds.minimum..<maximum {
            splits.append(try emit(.jump(0)))
            try append(part)
        }
        for split in splits {
            instructions[split] = Self.split(split + 1, instructions.count, isLazy: bounds.isLazy)
        }
    }

    /// The choice to go on stands after the part, so that `(|a)+` ends as it does in Perl when the part took nothing.
    private mutating func appendLoop(_ part: RegexPattern, _ bounds: RegexBounds) throws(LinearRegexError) {
        for _ in 0..<max(bounds.minimum - 1, 0) { try append(part) }
        let skip = bounds.minimum == 0 ? try emit(.jump(0)) : nil
        let start = instructions.count
        try append(part)
        let split = try emit(.jump(0))
        instructions[split] = Self.split(start, split + 1, isLazy: bounds.isLazy)
        if let skip { instructions[skip] = Self.split(start, split + 1, isLazy: bounds.isLazy) }
    }

    private static func split(_ inner: Int, _ after: Int, isLazy: Bool) -> Instruction {
        isLazy ? .split(after, inner) : .split(inner, after)
    }

    @discardableResult
    private mutating func emit(_ instruction: Instruction) throws(LinearRegexError) -> Int {
        try count()
        instructions.append(instruction)
        return instructions.count - 1
    }

    /// Counts also what emits nothing, so that `((){999}){999}` ends.
    private mutating func count() throws(LinearRegexError) {
        work += 1
        guard work > 3 * Self.largestSize || instructions.count >= Self.largestSize else { return }
        throw .tooLarge
    }
}

extension LinearRegexError {
    static let tooLarge = LinearRegexError(
        offset: 0, message: "the regular expression is too large",
        hint: "with its repetitions written out it has more than \(RegexProgram.largestSize) steps: use smaller bounds")
}
