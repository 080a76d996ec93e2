import Foundation
import PipelineTestKit

/// How often the tests go round: once in `make test`, `PIPELINE_TORTURE` times in `make torture`.
enum Rounds {
    static let count = ProcessInfo.processInfo.environment["PIPELINE_TORTURE"].flatMap { Int($0) } ?? 1

    /// The seed of the first round; `PIPELINE_SEED` repeats a run.
    static let seed = ProcessInfo.processInfo.environment["PIPELINE_SEED"].flatMap { UInt64($0) } ?? 20261120

    /// The seeds of all rounds, or of `perRound` times as many.
    static func seeds(perRound: Int = 1) -> [UInt64] { (0..<UInt64(count * perRound)).map { seed &+ $0 } }
}
