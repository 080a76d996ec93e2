/// Runs a program over a text with all alternatives at once (R. Pike's virtual machine): each scalar of the text is
/// looked at once, with at most one thread for each instruction, so that time is at most text × program.
struct RegexMachine: ~Copyable {
    private let program: RegexProgram
    private let text: UnsafeBufferPointer<UInt8>
    private let mode: Mode
    private let slotCount: Int
    private var current: Threads
    private var next: Threads
    private var stack: [Job] = []
    private var slots: [Int]
    /// The steps that may still be made.
    private(set) var budget: Int

    enum Mode {
        /// Somewhere in the text.
        case search
        /// The text from its start to its end.
        case whole
    }

    enum Outcome: Equatable {
        case match
        case noMatch
        /// The budget was spent before there was an answer.
        case exhausted
    }

    /// The threads at one place of the text, by preference.
    private struct Threads {
        var counters: [Int] = []
        /// The slots of all threads, one after the other.
        var slots: [Int] = []
        /// For each instruction the generation that last took it up.
        var marks: [Int]
        var generation = 0

        init(size: Int) { marks = Array(repeating: 0, count: size) }

        mutating func clear() {
            counters.removeAll(keepingCapacity: true)
            slots.removeAll(keepingCapacity: true)
            generation += 1
        }
    }

    private enum Job {
        case explore(Int)
        case restore(slot: Int, offset: Int)
    }

    /// - Parameter capturing: whether the offsets of groups are wanted; without them it runs faster.
    init(
        _ program: RegexProgram, on text: UnsafeBufferPointer<UInt8>, mode: Mode, capturing: Bool, budget: Int = .max
    ) {
        self.program = program
        self.text = text
        self.mode = mode
        // Making the tables costs time, too.
        self.budget = budget - program.instructions.count / 8
        slotCount = capturing ? program.slotCount : 0
        current = Threads(size: program.instructions.count)
        next = Threads(size: program.instructions.count)
        slots = Array(repeating: -1, count: slotCount)
    }

    /// The offsets of the match: of the whole, then of each group; -1 for a group that took no part.
    private(set) var matched: [Int] = []

    mutating func run() -> Outcome {
        var outcome = Outcome.noMatch
        var offset = 0
        current.clear()
        while true {
            if outcome == .noMatch, mode == .search, current.counters.isEmpty { skip(to: &offset) }
            if outcome == .noMatch, mode == .search || offset == 0 { start(at: offset) }
            if current.counters.isEmpty, outcome == .match || mode == .whole { return outcome }
            let scalar = scalar(at: offset)
            next.clear()
            if step(over: scalar, at: offset) { outcome = .match }
            if outcome == .match, slotCount == 0 { return .match }
            guard let scalar else { return outcome }
            swap(&current, &next)
            offset += scalar.length
            if budget < 0 { return .exhausted }
        }
    }

    /// Passes over bytes with which no match begins.
    private mutating func skip(to offset: inout Int) {
        guard let firstBytes = program.firstBytes else { return }
        let start = offset
        while offset < text.count, !firstBytes[Int(text[offset])] { offset += 1 }
        if offset == start { return }
        budget -= (offset - start) / 8
        // What is marked was marked for another place.
        current.clear()
    }

    private mutating func start(at offset: Int) {
        for slot in 0..<slotCount { slots[slot] = -1 }
        if slotCount > 0 { slots[0] = offset }
        follow(0, at: offset, isNext: false)
    }

    /// Moves each thread over the scalar; true when one came to the end, after which less preferred ones are dropped.
    private mutating func step(over scalar: (scalar: Unicode.Scalar, length: Int)?, at offset: Int) -> Bool {
        budget -= current.counters.count + 1
        for position in 0..<current.counters.count {
            let counter = current.counters[position]
            if case .match = program.instructions[counter] {
                if mode == .whole, offset < text.count { continue }
                matched = Array(current.slots[(position * slotCount)..<((position + 1) * slotCount)])
                if slotCount > 0 { matched[1] = offset }
                return true
            }
            guard let scalar, takes(counter, scalar.scalar) else { continue }
            for slot in 0..<slotCount { slots[slot] = current.slots[position * slotCount + slot] }
            follow(counter + 1, at: offset + scalar.length, isNext: true)
        }
        return false
    }

    @inline(__always)
    private func takes(_ counter: Int, _ scalar: Unicode.Scalar) -> Bool {
        switch program.instructions[counter] {
        case .scalar(let wanted): scalar == wanted
        case .foldedScalar(let wanted): scalar.folded == wanted
        case .set(let index): program.sets[index].contains(scalar)
        default: false
        }
    }

    /// Adds the threads that stand at an instruction without taking a scalar, most preferred first.
    private mutating func follow(_ counter: Int, at offset: Int, isNext: Bool) {
        stack.append(.explore(counter))
        while let job = stack.popLast() {
            switch job {
            case .restore(let slot, let offset): slots[slot] = offset
            case .explore(let counter): explore(counter, at: offset, isNext: isNext)
            }
        }
    }

    private mutating func explore(_ first: Int, at offset: Int, isNext: Bool) {
        var counter = first
        while mark(counter, isNext: isNext) {
            budget -= 1
            switch program.instructions[counter] {
            case .jump(let target): counter = target
            case .split(let preferred, let other):
                stack.append(.explore(other))
                counter = preferred
            case .save(let slot):
                if slot < slotCount {
                    stack.append(.restore(slot: slot, offset: slots[slot]))
                    slots[slot] = offset
                }
                counter += 1
            case .assertion(let assertion):
                guard assertion.holds(at: offset, in: text) else { return }
                counter += 1
            case .scalar, .foldedScalar, .set, .match:
                return add(counter, isNext: isNext)
            }
        }
    }

    @inline(__always)
    private mutating func mark(_ counter: Int, isNext: Bool) -> Bool {
        if isNext {
            if next.marks[counter] == next.generation { return false }
            next.marks[counter] = next.generation
        } else {
            if current.marks[counter] == current.generation { return false }
            current.marks[counter] = current.generation
        }
        return true
    }

    @inline(__always)
    private mutating func add(_ counter: Int, isNext: Bool) {
        if isNext {
            next.counters.append(counter)
            next.slots.append(contentsOf: slots)
        } else {
            current.counters.append(counter)
            current.slots.append(contentsOf: slots)
        }
    }

    /// The scalar at an offset and how many bytes it has; nil at the end. The text is well-formed UTF-8.
    @inline(__always)
    private func scalar(at offset: Int) -> (scalar: Unicode.Scalar, length: Int)? {
        guard offset < text.count else { return nil }
        let first = UInt32(text[offset])
        if first < 0x80 { return (Unicode.Scalar(first)!, 1) }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = first & (0xFF >> UInt32(length + 1))
        for position in 1..<length { value = value << 6 | UInt32(text[offset + position]) & 0x3F }
        return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
    }
}
