import PipelineCore

/// What an upload needs to go on after a crash.
struct UploadCheckpoint: Codable, Sendable, Equatable {
    /// The file as it was when the upload began; nil when the next try begins anew, with whatever is there then.
    var source: SourceFingerprint?
    /// What was chosen where the document leaves the choice. It never changes.
    var chosen: UploadProtocol?
    /// The interop version that the service answered in. It holds for the whole upload.
    var version: InteropVersion?
    /// Where the upload is; nil before it was created. Whoever knows it can write to the upload.
    var url: String?
    /// Bytes that the service is known to have.
    var confirmed: Int64 = 0
    /// True from before the request was begun whose answer ends the upload.
    var mayBeComplete = false
    /// Bytes that were handed to the network and are not yet counted as moved, because nothing came of them so far:
    /// only what stays makes a try count as progress.
    var uncounted: Int64 = 0
    /// The most bytes that one append may have at this service; nil while nothing speaks for less than all.
    var chunk: Int64?
    /// The running digest, for protocols that go on at an offset; nil before anything was read, and for the others.
    var digest: UploadDigest.Checkpoint?
    /// What a tus service offers beyond the core; nil when it was not asked.
    var offer: TusOffer?
    /// When the service drops the upload if nothing more comes, as it said it; nil when it did not.
    var keptUntil: Timestamp?
    /// True when all bytes are at the service, and the author's `complete` has still to be answered.
    var isFilled = false
    /// The parts, for protocols that send such; nil before the first request and for the others.
    var parts: PartsCheckpoint?
    /// True when the file changed while a submit of what it was before is open at the service; nil for never.
    var isOvertaken: Bool?
    /// How often in a row the service still held the upload for another request; nil for never.
    var held: Int?
    /// How often in a row a 404 to the upload was not believed; nil for never.
    var doubts: Int?
    /// How often the service has lost an upload of this file.
    var losses = 0
    /// How often a look-up of a complete upload found nothing in a row.
    var misses = 0

    mutating func note(url: String?, confirmed: Int64, mayBeComplete: Bool) {
        self.url = url
        self.confirmed = confirmed
        self.mayBeComplete = mayBeComplete
    }

    /// The same without an upload: the next try creates one.
    mutating func forgetUpload() {
        url = nil
        confirmed = 0
        mayBeComplete = false
        parts = nil
        digest = nil
        keptUntil = nil
        isFilled = false
        misses = 0
        doubts = nil
    }
}
