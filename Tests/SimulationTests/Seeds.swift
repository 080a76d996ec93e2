import Foundation

/// Which seeds a test runs.
enum Seeds {
    /// How many schedules a run of the tests has in all.
    static var count: Int { number("SEEDS") ?? 200 }

    /// How many schedules a run has of those that take long.
    static var countOfLong: Int { number("LONG_SEEDS") ?? 20 }

    /// The only seed to run, with its trace.
    static var one: UInt64? { number("SEED").map { UInt64($0) } }

    static func chosen(count: Int) -> [UInt64] {
        if let one { return [one] }
        return (1...UInt64(max(1, count))).map { $0 }
    }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}
