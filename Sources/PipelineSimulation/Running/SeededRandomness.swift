import PipelineCore
import SeededNumbers
import Synchronization

/// Random numbers that a seed fixes. The same seed and the same order of calls give the same numbers on every machine.
package final class SeededRandomness: Randomness {
    private let numbers: Mutex<SplitMix64>

    package init(seed: UInt64) { numbers = Mutex(SplitMix64(seed: seed)) }

    package func bits() -> UInt64 { numbers.withLock { $0.next() } }

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
