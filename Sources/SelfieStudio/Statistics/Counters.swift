/// What a studio has done since it was started; the body of `GET /stats`.
public struct Counters: Codable, Equatable, Sendable {
    /// Requests whose head arrived, whatever became of them.
    public var requests = 0
    /// Requests answered 401.
    public var refused = 0
    /// Requests answered 503 because of `--fail-percent`.
    public var failed = 0
    /// Connections cut because of `--cut-after`.
    public var cut = 0
    /// Connections closed instead of an answer because of `--lose-answers`.
    public var answersLost = 0
    /// `POST /models` requests that reached the studio proper, repeats with the same key among them.
    public var modelRequests = 0
    /// Models that these requests made: repeats make none.
    public var modelsSubmitted = 0
    /// Computations begun, those taken up again after a restart among them.
    public var computationsStarted = 0
    /// Upload resources made by a `POST` or `PUT`; appending makes none.
    public var uploadsCreated = 0
    /// Bytes of upload bodies that arrived, on cut connections and for uploads that no longer exist too.
    public var uploadBytesReceived = 0
    /// Every upload, in the order in which they were made.
    public var uploads: [Upload] = []
    /// Bytes of meshes handed to the network.
    public var resultBytesSent = 0
    /// The same by model.
    public var results: [String: Transfer] = [:]

    /// One upload, over all the requests that carried it.
    public struct Upload: Codable, Equatable, Sendable {
        public var number: Int
        public var requests = 0
        /// The sum of the bodies that arrived: more than the video's size if bytes were sent again.
        public var bytes = 0
        /// The video that the complete upload became.
        public var video: String?
    }

    /// All the requests for one result.
    public struct Transfer: Codable, Equatable, Sendable {
        public var requests = 0
        public var bytes = 0
    }

    enum CodingKeys: String, CodingKey {
        case requests, refused, failed, cut, uploads, results
        case answersLost = "answers_lost"
        case modelRequests = "model_requests"
        case modelsSubmitted = "models_submitted"
        case computationsStarted = "computations_started"
        case uploadsCreated = "uploads_created"
        case uploadBytesReceived = "upload_bytes_received"
        case resultBytesSent = "result_bytes_sent"
    }
}
