/// The body of `GET /models/ID`.
package struct ModelView: Codable, Equatable, Sendable {
    package var id: String
    package var state: ModelState
    package var video: String
    package var quality: String
    /// 0 to 100, whole.
    package var percent: Int
    /// Whole seconds to the end; missing while nobody can know.
    package var etaSeconds: Int?
    package var result: Result?
    package var message: String?

    /// The address of the mesh, relative to the studio: its port may change over a restart.
    package struct Result: Codable, Equatable, Sendable {
        package var url: String
        package var sha256: String
        package var bytes: Int
        /// A picture of it; missing in models that an earlier version made, as is the page.
        package var preview: Link?
        /// A page that turns it.
        package var page: Link?
    }

    /// A further file of the model.
    package struct Link: Codable, Equatable, Sendable {
        package var url: String
        package var sha256: String
        package var bytes: Int
    }

    enum CodingKeys: String, CodingKey {
        case id, state, video, quality, percent, result, message
        case etaSeconds = "eta_seconds"
    }
}
