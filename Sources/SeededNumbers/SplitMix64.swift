import CLibrary

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): the same seed and the same
/// order of calls give the same numbers on every machine.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A whole number from 0 to below the bound; 0 when that is not positive.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// A number in `0..<1`, of 53 random bits.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A standard normal number, by the method of Box and Muller.
    package mutating func normal() -> Double {
        (-2 * log(max(unit(), 1e-12))).squareRoot() * cos(2 * .pi * unit())
    }
}
