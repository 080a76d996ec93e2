import JSONPath
import PipelineCore

/// An upload's checkpoint as one attempt changes it, and what of it the journal has.
struct CheckpointWriter {
    var checkpoint: UploadCheckpoint
    /// True for an upload of one small request, which is spared all commits but the first: nothing can be spliced there,
    /// and a source that changes before the next attempt is noticed all the same.
    let isSparing: Bool
    /// The checkpoint that the journal has; nil when nothing that this attempt could go on from.
    private(set) var committed: UploadCheckpoint?
    private let context: StageContext<UploadCheckpoint>
    private var committedAt: Timestamp
    private var hasPassedCreation: Bool

    init(
        _ checkpoint: UploadCheckpoint, committed: UploadCheckpoint?, isSparing: Bool,
        in context: StageContext<UploadCheckpoint>
    ) {
        self.checkpoint = checkpoint
        self.committed = committed
        self.isSparing = isSparing
        self.context = context
        committedAt = context.now
        hasPassedCreation = checkpoint.phase.url != nil
    }

    /// True when a commit of progress has been away for long enough.
    var isDue: Bool { context.now - committedAt >= ProgressTicker.interval }

    /// Commits the checkpoint; returns when it is durable.
    /// - Parameter progressed: true when what was handed over has come to something.
    mutating func commit(progressed: Bool, captures: JSONObject? = nil) async throws(StageFailure) {
        let isFarther = progressed && checkpoint.progress.takeHandedOver()
        // Something came of it: what is counted in a row begins again.
        if progressed { (checkpoint.progress.held, checkpoint.progress.doubts) = (0, 0) }
        context.mustAct(before: checkpoint.progress.keptUntil)
        try await context.commit(checkpoint, captures: captures, progressed: isFarther)
        committed = checkpoint
        committedAt = context.now
    }

    /// Commits what the journal does not yet have.
    mutating func keep() async throws(StageFailure) {
        if checkpoint != committed { try await commit(progressed: false) }
    }

    /// Commits what must be on the disk before a request goes out: the fingerprint, before any byte of the file; and that
    /// the response may be the last, so that a restart knows.
    mutating func commitBeforeSending() async throws(StageFailure) {
        if !isSparing { return try await commitFacts(since: checkpoint.progress.confirmed) }
        if committed == nil { try await commit(progressed: false) }
    }

    /// Commits what a restart rests on, if that has changed.
    /// - Parameter confirmed: what was confirmed before.
    mutating func commitFacts(since confirmed: Int64, captures: JSONObject? = nil) async throws(StageFailure) {
        guard checkpoint != committed || captures != nil, !isSparing else { return }
        let hasProgress = checkpoint.progress.confirmed > max(confirmed, committed?.progress.confirmed ?? 0)
        try await commit(progressed: hasProgress, captures: captures)
        if checkpoint.phase.url != nil, !hasPassedCreation {
            hasPassedCreation = true
            context.pass(.uploadCreated)
        }
    }

    /// Keeps the checkpoint with the step's end, which follows.
    mutating func commitWithEnd() async throws(StageFailure) {
        _ = checkpoint.progress.takeHandedOver()
        try await context.stage(checkpoint)
    }

    /// Commits that all bytes are at the service, with what its response gave.
    mutating func commitFilled(_ captures: JSONObject) async throws(StageFailure) {
        let isFarther = checkpoint.progress.takeHandedOver()
        try await context.commit(checkpoint, captures: captures, progressed: isFarther)
        (committed, committedAt) = (checkpoint, context.now)
    }
}

extension UploadPhase {
    /// The place where the upload is; nil when that is not known, or it has no address.
    var url: String? {
        switch self {
        case .open(let upload): upload.url
        case .filled(let url): url
        case .pending, .parts, .overtaken: nil
        }
    }
}
