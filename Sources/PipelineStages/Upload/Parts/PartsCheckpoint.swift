import PipelineCore

/// The state that an upload in parts that was created needs to go on after a crash.
struct PartsCheckpoint: Codable, Sendable, Equatable {
    /// Bytes of each part but the last. It holds for the whole upload, whatever the document says later.
    var partSize: Int64
    /// The service's name of the upload; nil where the author's captures hold it.
    var uploadID: String?
    /// The values that the service gave for each part that it has, by number from 1: an ETag, or the JSON of the
    /// captures.
    var receipts: [Int: String] = [:]
    /// The ends of the parts that it has, in their order, in bytes; nil unless the service is asked which byte comes
    /// next.
    var ends: [Int64]?
    /// The checksum by which the service checks each part; nil when it does not.
    var checksum: StorageChecksum?
    /// The checksums of the parts that it has, by number.
    var checksums: [Int: String]?
    /// The numbers of the parts that were sent and that no response said anything of, as the last attempt left them.
    /// Nil stands for any that is missing: while parts are sent, after a kill, and in checkpoints of 0.1.0.
    var unanswered: [Int]?
    /// The number of parts at a time that were worth it; nil before that was found out.
    var streams: Int?
    /// The time when the upload was made, by the service's clock; nil when it did not say.
    var begun: Timestamp?
    /// True from before the request was begun that ends the upload.
    var isCompleting = false
}

/// A stretch of the file that is sent as one part.
struct FilePart: Sendable, Equatable {
    /// From 1.
    var number: Int
    var offset: Int64
    var size: Int64
}

/// The table by which a file is cut.
struct PartTable: Sendable, Equatable {
    let total: Int64
    let size: Int64

    /// The number of there that are; an empty file has one empty part.
    var count: Int { total > 0 ? Int((total - 1) / size) + 1 : 1 }

    func offset(of number: Int) -> Int64 { Int64(number - 1) * size }

    func length(of number: Int) -> Int64 { min(size, total - offset(of: number)) }

    subscript(number: Int) -> FilePart {
        FilePart(number: number, offset: offset(of: number), size: length(of: number))
    }

    /// The part size for S3: the author's, larger where the file would have too many. S3 takes no part below 5 MiB but
    /// the last, none above 5 GiB, and 10,000 at most (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
    static func storagePartSize(for total: Int64, wanted: Int64) -> Int64 {
        let mebibyte: Int64 = 1 << 20
        let least = ((total + 9999) / 10000 + mebibyte - 1) / mebibyte * mebibyte
        return max(min(wanted, 5120 * mebibyte), 5 * mebibyte, least)
    }
}
