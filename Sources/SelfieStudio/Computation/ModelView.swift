/// What `GET /models/ID` says.
public struct ModelView: Codable, Equatable, Sendable {
    public var id: String
    public var state: ModelState
    public var video: String
    public var quality: String
    /// 0 to 100, whole.
    public var percent: Int
    /// Whole seconds to the end; missing while nobody can know.
    public var etaSeconds: Int?
    public var result: Result?
    public var message: String?

    /// Where the mesh is, relative to the studio: its port may change over a restart.
    public struct Result: Codable, Equatable, Sendable {
        public var url: String
        public var sha256: String
        public var bytes: Int
        /// A picture of it; missing in models that an earlier version made, as is the page.
        public var preview: Link?
        /// A page that turns it.
        public var page: Link?
    }

    /// A further file of the model.
    public struct Link: Codable, Equatable, Sendable {
        public var url: String
        public var sha256: String
        public var bytes: Int
    }

    enum CodingKeys: String, CodingKey {
        case id, state, video, quality, percent, result, message
        case etaSeconds = "eta_seconds"
    }
}
