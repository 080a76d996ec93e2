import Foundation
import SeededNumbers

/// Makes wrong texts out of sound ones: bytes changed, stretches taken out, doubled, moved and mixed with others.
struct Mutation: RandomNumberGenerator {
    private var numbers: SplitMix64

    init(seed: UInt64) { numbers = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    private static let pieces = [
        "${{", "}}", "$${{", "'", "\"", "\\", "\\u0000", "{", "}", "[", "]", ",", ":", "//", "/*", "*/", "null", "true",
        "-1", "1e999", "9223372036854775808", "0.1", "??", "?", "$", "$..*", "[?@.a==1]", "[*]", "[]",
        "match(@,'(a*)*')",
        "header:", "regex:(a+)+$", "xml:/", "secrets.X", "stages.a.b", "self.key", "item", "\u{0}", "é", "😀", "\r\n",
        "%41", ";", "=", "<", ">", "\"a\":", "x-", "forEach", "kind", "5m", "8MiB", "2xx", "filename*=UTF-8''%ff",
        "rel=\"next\"", ":YQ==:", "?1",
    ].map { Array($0.utf8) }

    /// One mutation of a text of the corpus.
    mutating func text(from corpus: [[UInt8]]) -> [UInt8] {
        var bytes = corpus[Int.random(in: corpus.indices, using: &self)]
        for _ in 0..<Int.random(in: 1...6, using: &self) { change(&bytes, corpus) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ corpus: [[UInt8]]) {
        let place = Int.random(in: 0...bytes.count, using: &self)
        let end = min(bytes.count, place + Int.random(in: 0...24, using: &self))
        switch Int.random(in: 0..<7, using: &self) {
        case 0: bytes.removeSubrange(place..<end)
        case 1: bytes.insert(contentsOf: Array(bytes[place..<end]), at: Int.random(in: 0...bytes.count, using: &self))
        case 2: bytes.insert(contentsOf: Self.pieces[Int.random(in: Self.pieces.indices, using: &self)], at: place)
        case 3: bytes.replaceSubrange(place..<end, with: Self.pieces[Int.random(in: Self.pieces.indices, using: &self)])
        case 4 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &self)
        case 5 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
        default:
            let other = corpus[Int.random(in: corpus.indices, using: &self)]
            let start = Int.random(in: 0...other.count, using: &self)
            bytes.insert(contentsOf: other[start..<min(other.count, start + 60)], at: place)
        }
    }
}

/// How long and from which seed: `FUZZ_SECONDS` for each target (half a second by itself), `FUZZ_SEED`.
struct FuzzRun {
    private static let environment = ProcessInfo.processInfo.environment
    static let seconds = environment["FUZZ_SECONDS"].flatMap(Double.init) ?? 0.5
    static let seed = environment["FUZZ_SEED"].flatMap(UInt64.init) ?? 1
    /// No single input may take longer: what does is a hang in the making.
    static let longest = Duration.seconds(2)

    /// Runs a target on mutations until the time is over; the inputs that took too long.
    static func slow(_ name: String, _ corpus: [[UInt8]], _ target: ([UInt8]) -> Void) -> [String] {
        var mutation = Mutation(seed: seed)
        var slow: [String] = []
        var count = 0
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + .seconds(seconds)
        while clock.now < end {
            let input = mutation.text(from: corpus)
            let taken = clock.measure { target(input) }
            if taken > longest { slow.append("\(taken): \(String(decoding: input, as: UTF8.self))") }
            count += 1
        }
        if environment["FUZZ_SECONDS"] != nil {
            print("fuzz \(name): \(Int(Double(count) / seconds)) inputs a second, \(count) in all")
        }
        return slow
    }
}
