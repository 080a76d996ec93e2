import PipelineCore
import Synchronization

/// Random numbers that a seed fixes: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014). The same seed and the same order of calls give the same numbers on every machine.
package final class SeededRandomness: Randomness {
    private let state: Mutex<UInt64>

    package init(seed: UInt64) { state = Mutex(seed) }

    package func bits() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// A whole number in the range.
    package func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(bits() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// True with the probability.
    package func chance(_ probability: Double) -> Bool { unit() < probability }

    /// One of the elements; the collection is not empty.
    package func element<Elements: RandomAccessCollection>(of elements: Elements) -> Elements.Element {
        elements[elements.index(elements.startIndex, offsetBy: number(in: 0...elements.count - 1))]
    }

    /// A duration in milliseconds in the range.
    package func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(number(in: range)) }
}
