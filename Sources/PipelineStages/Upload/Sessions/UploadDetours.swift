/// Answers that lead back to where an upload was, and could do so for ever: so many are followed, and then no more.
///
/// Bytes that are kept, lost and kept again lead nowhere either: only what never was there before begins the count again.
struct UploadDetours: Sendable, Equatable {
    private(set) var count = 0
    private var farthest: Int64

    private static let most = 8

    /// True if the offset may be asked for again without a pause after a refusal of bytes.
    var areFew: Bool { count < 2 }

    /// - Parameter confirmed: how far the upload was before.
    init(from confirmed: Int64 = 0) { farthest = confirmed }

    mutating func advance(to offset: Int64) {
        if offset > farthest { self = UploadDetours(from: offset) }
    }

    /// Counts one; a failure with the complaint once there were too many.
    ///
    /// - Parameter isResent: whether bytes are sent after it that were sent before: one such is followed, and no second.
    mutating func add(_ complaint: String, isResent: Bool = false) -> UploadStep? {
        if isResent, count < Self.most { count = Self.most - 1 }
        count += 1
        return count > Self.most ? .fail(.wrong(complaint)) : nil
    }
}
