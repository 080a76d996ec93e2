import PipelineHTTP

/// The number of bytes that go into one append: the rest of the file, until a service turns out to take or to keep
/// less.
///
/// There are services that keep nothing of an append that breaks off. Where that may be so the appends are paced: the
/// first has one part, and the next ones have what ten seconds bring, so that no more is ever lost.
struct UploadChunk: Sendable, Equatable {
    /// The most bytes that the service takes; nil while nothing speaks for less than all. Kept in the checkpoint.
    private(set) var most: Int64?
    /// The most bytes after the service kept nothing of a broken append; nil before that. Kept in the checkpoint.
    private(set) var safe: Int64?
    /// The length to fall back to, in bytes.
    let part: Int64
    /// Sizes are multiples of this, but for the last of a file.
    private let granularity: Int64
    /// Bytes that the attempts before handed over, of which it is not known whether they were kept.
    private var handedOver: Int64
    /// The number of bytes that ten seconds bring; nil where appends are not paced.
    private var pace: Int64?

    private static let paceSeconds = 10.0
    private static let least: Int64 = 64 << 10

    init(
        most: Int64? = nil, safe: Int64? = nil, part: Int64, granularity: Int64 = 1, handedOver: Int64 = 0,
        isPaced: Bool = false
    ) {
        self.most = most
        self.safe = safe
        self.granularity = granularity
        self.part = max(granularity, part / granularity * granularity)
        self.handedOver = handedOver
        if isPaced { pace = self.part }
    }

    /// Bytes of one append; nil for the rest of the file in one.
    var size: Int64? { [most, safe, pace].compactMap(\.self).min() }

    /// True if attempts before handed bytes over of which nothing is known.
    var mayHaveLost: Bool { handedOver > 0 }

    /// Takes in what became of an append that broke off. What was lost once bounds the next one: only appends that are
    /// short enough to end ever lead anywhere at a service that keeps nothing of a broken one.
    mutating func noteKept(_ wasKept: Bool) {
        defer { handedOver = 0 }
        guard !wasKept, handedOver > (pace == nil && safe == nil ? part : 0) else { return }
        // The last of the attempts handed over no more than one append has, which was more than a part at first.
        let half = safe == nil && handedOver > part ? part : min(handedOver, size ?? .max) / 2
        safe = min(safe ?? .max, part, max(half, Self.least))
    }

    /// Takes in an append that came to its end: how much ten seconds bring, and that as much and more may be tried again.
    mutating func noteSent(_ count: Int64, in timings: ExchangeTimings) {
        handedOver = 0
        // Little by little: what is lost at each length that is too much is more than a slow growth costs.
        if let size = safe, size < part { safe = min(part, size + size / 8) }
        guard pace != nil else { return }
        let seconds = timings.total - timings.connect
        let bytes = seconds > 0 ? Double(count) / seconds * Self.paceSeconds : .infinity
        pace = bytes < 1e15 ? max(Self.least, Int64(bytes)) : .max
    }

    /// Makes appends no larger than that.
    mutating func shrink(to count: Int64) { most = min(most ?? .max, count) }

    /// Makes appends smaller than one that was too large (413); false when it is not the size that is wrong.
    mutating func shrink(below count: Int64) -> Bool {
        let half = min(part, count / 2) / granularity * granularity
        guard half >= max(granularity, 1 << 10) else { return false }
        most = half
        return true
    }
}
