import PipelineCore

/// The state that an upload needs to go on after a crash.
///
/// Checkpoints that version 0.1.0 wrote are read too, see `UploadCheckpoint+Flat.swift`.
struct UploadCheckpoint: Sendable, Equatable {
    /// The file as it was when the upload began; nil when the next attempt begins again, with whatever is there then.
    var source: SourceFingerprint?
    /// A digest of the captures that say which upload it is, as they were when it was begun: fresh ones may be of
    /// another, which has none of the bytes. Nil where none do, before the first attempt, and in checkpoints of before.
    var origin: String?
    var terms = UploadTerms()
    var progress = UploadProgress()
    var phase = UploadPhase.pending

    /// Forgets the upload, so that the next attempt makes another. What the service can, and how often it lost one, is
    /// not forgotten.
    mutating func forgetUpload() {
        phase = .pending
        progress.confirmed = 0
        progress.keptUntil = nil
        progress.misses = 0
        progress.doubts = 0
    }
}

/// The terms that were found out about the service; it holds for each upload of the step.
struct UploadTerms: Codable, Sendable, Equatable {
    /// The protocol that was chosen where the document leaves the choice. It changes at most once, from `put` to
    /// `resumable`.
    var chosen: UploadProtocol?
    /// The interop version that the service answered in.
    var version: InteropVersion?
    /// The most bytes of one append that the service takes; nil while nothing speaks for less than all.
    var chunk: Int64?
    /// The most bytes of one append after the service kept nothing of a broken one; nil before that.
    var safeChunk: Int64?
    /// The offer of a tus service beyond the core; nil when it was not asked.
    var offer: TusOffer?
    /// True when the service refused a creation that brought all bytes: the next one brings none.
    var refusesBytes: Bool?
}

/// The progress of an upload, whatever its protocol.
struct UploadProgress: Codable, Sendable, Equatable {
    /// Bytes that the service is known to have.
    var confirmed: Int64 = 0
    /// Bytes that were handed to the network and of which nothing came so far: only what stays is progress.
    var handedOver: Int64 = 0
    /// The time when the service drops the upload if nothing more comes, as it said it; nil when it did not.
    var keptUntil: Timestamp?
    /// The number of times that in a row the service still held the upload for another request.
    var held = 0
    /// The number of times that in a row a 404 to the upload was not believed.
    var doubts = 0
    /// The number of times that the service has lost an upload of this file.
    var losses = 0
    /// The number of times that a look-up of a complete upload found nothing in a row.
    var misses = 0

    private enum CodingKeys: String, CodingKey {
        case confirmed, keptUntil, held, doubts, losses, misses
        /// The name that it has in checkpoints of before.
        case handedOver = "uncounted"
    }

    /// Something came of what was handed over: it begins again at zero. True if it was anything.
    mutating func takeHandedOver() -> Bool {
        defer { handedOver = 0 }
        return handedOver > 0
    }
}

/// The phase of an upload.
enum UploadPhase: Codable, Sendable, Equatable {
    /// Nothing is at the service, as far as is known.
    case pending
    /// It goes on at an offset.
    case open(OpenUpload)
    /// It goes on with the parts that are missing.
    case parts(PartsCheckpoint)
    /// All bytes are at the service, and the author's `complete` has still to be answered.
    /// - Parameter url: where the upload is; nil for protocols without an address.
    case filled(url: String?)
    /// The file changed while a submit of what it was before is open at the service.
    case overtaken
}

extension UploadPhase {
    /// True once all bytes are at the service.
    var isWhole: Bool {
        switch self {
        case .filled: true
        case .parts(let state): state.isCompleting
        case .pending, .open, .overtaken: false
        }
    }
}

/// An upload that goes on at an offset.
struct OpenUpload: Codable, Sendable, Equatable {
    /// The place where it is; nil before the service has said so, and for one that the author's request names. Whoever
    /// knows it can write to the upload.
    var url: String?
    /// True from before the request was begun whose response ends the upload.
    var mayBeComplete = false
    /// True when the captures of the request that made it are kept.
    var hasCaptures = false
    /// The running digest; nil before anything was read.
    var digest: UploadDigest.Checkpoint?
}
