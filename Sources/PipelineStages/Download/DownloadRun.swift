import JSONPath
import PipelineCore
import PipelineHTTP

/// One try of a download.
struct DownloadRun {
    static let partSize: Int64 = 8 << 20

    let order: DownloadOrder
    var checkpoint: DownloadCheckpoint
    /// True if the next request asks for the first bytes alone, to find out whether there are ranges.
    var probes: Bool
    /// True if a file that has the name already is known to be another one: what comes is kept as a part all the same.
    var isTaken = false
    /// The file being received, open and locked.
    var part: PartFile?
    /// The time that an answer takes to begin, as far as a connection that was made has shown it.
    var roundTrip = Duration.zero
    /// The running digests of the first `checkpoint.held` bytes.
    var digests = RunningDigests.proving()
    /// The notes that the part has of itself that the journal does not know; still to be proven.
    var notes: [PartNote] = []
    private var committed: DownloadCheckpoint?
    /// Up to where the journal knows what is in the part.
    private var saved: Int64

    init(_ order: DownloadOrder, from checkpoint: DownloadCheckpoint) {
        self.order = order
        self.checkpoint = checkpoint
        self.checkpoint.farthest = checkpoint.farthest ?? checkpoint.covered
        saved = checkpoint.reach
        probes = order.streams > 1 && !order.wanted.headerIsOfContent
    }

    var context: StageContext<DownloadCheckpoint> { order.context }

    mutating func perform() async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        do throws(StageFailure) {
            return try await fetch()
        } catch {
            part?.forgetLost(behind: saved)
            throw error
        }
    }

    private mutating func fetch() async throws(StageFailure) -> StageOutcome<DownloadCheckpoint> {
        if let unpack = order.stage.unpack { try unpacking.checkTarget(of: unpack) }
        if let verified = checkpoint.verified, let outcome = try await resumeNaming(verified) { return outcome }
        if order.stage.unpack == nil, let path = checkpoint.target {
            let found = try await order.found(at: path)
            if case .identical(let outcome) = found { return outcome }
            if case .taken = found { isTaken = true }
        }
        try await takeUpPart()
        var restarts = 0
        while true {
            let before = checkpoint.held
            switch try await canUseRanges ? fetchRanges() : exchange() {
            case .whole(let arrival): return try await verify(arrival)
            case .more:
                guard checkpoint.held > before else {
                    throw order.definite("the service sends ranges without a byte in them")
                }
            case .restart(let reason):
                restarts += 1
                probes = false
                guard restarts <= 2 else { throw order.definite("the download can't go on: \(reason)") }
                try await startAgain(because: reason)
            case .identical(let outcome): return outcome
            case .taken: isTaken = true
            }
        }
    }

    /// Throws away what is there. The part gets a new file once there is something to put in, so that whoever else
    /// knows the old one is not misled.
    mutating func startAgain() {
        let target = checkpoint.target
        checkpoint.startAgain()
        checkpoint.target = target
        digests = .proving()
        notes = []
        part?.remove()
        part = nil
        saved = 0
    }

    mutating func startAgain(because reason: String?) async throws(StageFailure) {
        if let reason { try await warnOfLoss(because: reason) }
        startAgain()
    }

    /// Says that what is there is of no use, once for each reason: a service may give the same one at each try, and what
    /// comes to nothing but closed connections would tell nobody why it takes so long.
    mutating func warnOfLoss(because reason: String) async throws(StageFailure) {
        guard checkpoint.covered > 0, checkpoint.loss != reason else { return }
        checkpoint.loss = reason
        try await context.warn(
            "the \(SizeText.describe(checkpoint.covered)) that had come are of no use and come again: \(reason)")
    }

    func session() -> DownloadSession { order.session(of: checkpoint) }

    /// - Parameter lasts: true when another try can build on what there is.
    mutating func commit(lasts: Bool, captures: JSONObject? = nil) async throws(StageFailure) {
        // What comes once more is traffic, and no progress.
        let progressed = lasts && checkpoint.covered > checkpoint.farthest ?? 0
        if progressed { checkpoint.farthest = checkpoint.covered }
        guard checkpoint != committed || captures != nil else { return }
        try await context.commit(checkpoint, captures: captures, progressed: progressed)
        committed = checkpoint
        saved = checkpoint.reach
    }
}
