import PipelineCore

/// The state that a download needs to go on after a crash.
struct DownloadCheckpoint: Codable, Sendable, Equatable {
    /// A whole file that passed all checks.
    struct Verified: Codable, Sendable, Equatable {
        var bytes: Int64
        /// SHA-256 in hex; nil where nobody asked for it.
        var sha256: String?
        /// The ``RunningDigests/proof``; nil in checkpoints of 0.1.0, whose SHA-256 it is.
        var proof: String?
    }

    /// The entries that came out of a packed file.
    struct Unpacked: Codable, Sendable, Equatable {
        /// Its final path.
        var path: String
        /// The identity of the file, under whatever name.
        var identity: FileIdentity
    }

    /// The final path; nil while only the folder is known.
    var target: String?
    /// Bytes of the part that are on the disk.
    var held: Int64 = 0
    /// The ``RunningDigests/proof`` of these bytes: it tells whether the part is still ours.
    var heldDigest: String?
    /// The ranges after these, when it comes in several streams.
    var ranges: RangeMap?
    /// The number of streams at a time that were worth it; nil before that was found out.
    var streams: Int?
    var validator: Validator?
    /// The coding of the file by the service (`Content-Encoding`); nil for not at all.
    var coding: String?
    /// The length of the whole, where the service has said it.
    var total: Int64?
    /// The digests of the whole as the service stated them.
    var stated: [DeclaredDigest] = []
    /// The number of times that a whole file had the wrong digest or size.
    var mismatches = 0
    /// The number of times that a whole file was refused by a rule of the author's that allows another try; nil for
    /// never.
    var refusals: Int?
    /// The most bytes of the file that ever were there and could be built on: only more than these are progress, however
    /// often they come. Nil in checkpoints of 0.1.0.
    var farthest: Int64?
    /// The reason for which bytes were thrown away the last time that this was told; nil for never.
    var loss: String?
    /// Set once the part is whole and checked; what is left is its name.
    var verified: Verified?
    /// The name that the service gives the file, where it is wanted after unpacking.
    var name: String?
    /// Set once all has been unpacked; what is left is its name.
    var unpacked: Unpacked?

    /// The number of bytes of the file that are on the disk in all.
    var covered: Int64 { held + (ranges?.covered ?? 0) }

    /// True if there is a part.
    var isBegun: Bool { covered > 0 || verified != nil }

    /// Behind the last byte that it says anything of.
    var reach: Int64 { ranges?.pieces.last?.end ?? held }

    /// True if what is on the disk is what was in the service's coding with gzip.
    var isGUnzipped: Bool { coding.map { ["gzip", "x-gzip"].contains($0.lowercased()) } ?? false }

    /// Begins anew, without a byte of the file.
    mutating func startAgain() {
        held = 0
        heldDigest = nil
        ranges = nil
        validator = nil
        coding = nil
        total = nil
        stated = []
        verified = nil
        name = nil
        unpacked = nil
    }
}
