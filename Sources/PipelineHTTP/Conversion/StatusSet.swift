/// The statuses that count as success.
public struct StatusSet: Sendable, Equatable {
    private let ranges: [ClosedRange<Int>]

    /// The statuses that lie in one of the ranges.
    public init(_ ranges: [ClosedRange<Int>]) {
        self.ranges = ranges
    }

    /// 200 to 299.
    public static let success = StatusSet([200...299])

    /// Returns whether the status is one of them.
    public func contains(_ status: Int) -> Bool {
        ranges.contains { $0.contains(status) }
    }
}
