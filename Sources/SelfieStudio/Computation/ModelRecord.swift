/// The state of a model.
package enum ModelState: String, Codable, Sendable {
    case queued, working, done, error
}

/// The record on disk of a model. Its idempotency key stands in the same file: both are there, or neither.
struct ModelRecord: Codable, Equatable, Sendable {
    var id: String
    /// The order of submission.
    var number: Int
    var video: String
    var quality: ModelQuality
    var state: ModelState = .queued
    /// The reason why it ended in an error.
    var message: String?
    /// The mesh.
    var result: Sculptor.WrittenFile?
    var preview: Sculptor.WrittenFile?
    var page: Sculptor.WrittenFile?
    var key: String?
    /// SHA-256 of the body that came with the key.
    var bodyDigest: String

    var isOver: Bool { state == .done || state == .error }

    /// The files that there are of a finished model.
    var files: [ModelFile: Sculptor.WrittenFile] {
        get {
            var files: [ModelFile: Sculptor.WrittenFile] = [:]
            files[.mesh] = result
            files[.preview] = preview
            files[.page] = page
            return files
        }
        set { (result, preview, page) = (newValue[.mesh], newValue[.preview], newValue[.page]) }
    }
}
