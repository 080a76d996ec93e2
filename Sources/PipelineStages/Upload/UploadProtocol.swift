/// The protocol by which a file gets to its service, as the document says it.
enum UploadProtocol: String, Codable, Sendable, CaseIterable {
    /// One request with the file as its body, repeated whole after an interruption.
    case put
    /// One form with fields and the file, likewise.
    case multipart
    /// The IETF's resumable uploads.
    case resumable
    /// tus 1.0.0.
    case tus
    /// Multipart uploads of S3.
    case s3
    /// Resumable uploads of Google Cloud Storage.
    case gcs
    /// Parts by requests that the author describes.
    case parts
    /// Whichever the service speaks, asked once for each upload: resumable, tus, then put.
    case auto

    /// True if the file goes out from its beginning to its end, and an interrupted upload goes on at an offset.
    var goesOnAtOffset: Bool { self == .tus || self == .resumable || self == .gcs }

    /// True if an interrupted upload begins again at its first byte.
    var startsAgain: Bool { self == .put || self == .multipart }
}
