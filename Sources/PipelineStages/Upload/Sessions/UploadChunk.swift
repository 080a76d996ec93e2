/// How much goes into one append: the rest of the file, until a service turns out to take or to keep less.
struct UploadChunk: Sendable, Equatable {
    /// Bytes of one append; nil for the rest of the file in one. Kept in the checkpoint.
    private(set) var size: Int64?
    /// What to fall back to, in bytes.
    let part: Int64
    /// Sizes are multiples of this, but for the last of a file.
    private let granularity: Int64
    /// Bytes that the try before handed over, of which it is not known whether they were kept.
    private var handedOver: Int64

    init(size: Int64? = nil, part: Int64, granularity: Int64 = 1, handedOver: Int64 = 0) {
        self.size = size
        self.granularity = granularity
        self.part = max(granularity, part / granularity * granularity)
        self.handedOver = handedOver
    }

    /// Takes in what became of an append that broke off. There are services that keep nothing of one: there only
    /// appends that are short enough to end ever lead anywhere.
    mutating func noteKept(_ wasKept: Bool) {
        if !wasKept, handedOver > part, size ?? .max > part { size = part }
        handedOver = 0
    }

    /// Makes appends no larger than that.
    mutating func shrink(to count: Int64) { size = min(size ?? .max, count) }

    /// Makes appends smaller than one that was too large (413); false when it is not the size that is wrong.
    mutating func shrink(below count: Int64) -> Bool {
        let half = min(part, count / 2) / granularity * granularity
        guard half >= max(granularity, 1 << 10) else { return false }
        size = half
        return true
    }
}
