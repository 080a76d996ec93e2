extension RegexProgram {
    /// Which bytes a match can begin with, so that a search passes over the others without starting threads.
    ///
    /// Nil when a match can be empty. Too many bytes may be among them, never too few.
    static func firstBytes(of instructions: [Instruction], _ sets: [RegexScalarSet]) -> [Bool]? {
        var bytes = Array(repeating: false, count: 256)
        var seen = Array(repeating: false, count: instructions.count)
        var open = [0]
        while let counter = open.popLast() {
            if seen[counter] { continue }
            seen[counter] = true
            switch instructions[counter] {
            case .match: return nil
            case .jump(let target): open.append(target)
            case .split(let first, let second): open += [first, second]
            case .save, .assertion: open.append(counter + 1)
            case .scalar(let scalar): bytes[Int(UTF8.encode(scalar)!.first!)] = true
            case .foldedScalar(let folded): insert(into: &bytes) { $0.folded == folded }
            case .set(let index): insert(into: &bytes) { sets[index].contains($0) }
            }
        }
        return bytes
    }

    /// Adds the ASCII characters of a set, and all bytes that begin others.
    private static func insert(into bytes: inout [Bool], _ contains: (Unicode.Scalar) -> Bool) {
        for value in 0..<UInt8(128) where contains(Unicode.Scalar(value)) { bytes[Int(value)] = true }
        for value in 0xC2...0xF4 { bytes[value] = true }
    }
}
