/// A video that the studio keeps; also the answer to its upload.
package struct Video: Codable, Equatable, Sendable {
    /// The name given by `PUT /videos/NAME`, else made from the content, so that the same video sent again, say
    /// because the answer was lost, is the same video.
    package var id: String
    package var bytes: Int
    /// Lower-case hex.
    package var sha256: String
}
