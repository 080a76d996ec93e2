/// The work of a studio since it was started; the body of `GET /stats`.
package struct Counters: Codable, Equatable, Sendable {
    /// Requests whose head arrived, whatever became of them.
    package var requests = 0
    /// Requests answered 401.
    package var refused = 0
    /// Requests answered 503 because of `--fail-percent`.
    package var failed = 0
    /// Connections cut because of `--cut-after`.
    package var cut = 0
    /// Connections closed instead of an answer because of `--lose-answers`.
    package var answersLost = 0
    /// `POST /models` requests that reached the studio proper, repeats with the same key among them.
    package var modelRequests = 0
    /// Models that these requests made: repeats make none.
    package var modelsSubmitted = 0
    /// Computations begun, those taken up again after a restart among them.
    package var computationsStarted = 0
    /// Upload resources made by a `POST` or `PUT`; appending makes none.
    package var uploadsCreated = 0
    /// Bytes of upload bodies that arrived, on cut connections and for uploads that no longer exist too.
    package var uploadBytesReceived = 0
    /// Every upload, in the order in which they were made.
    package var uploads: [Upload] = []
    /// Bytes of meshes handed to the network.
    package var resultBytesSent = 0
    /// The transfers of results by model.
    package var results: [String: Transfer] = [:]

    /// One upload, over all the requests that carried it.
    package struct Upload: Codable, Equatable, Sendable {
        package var number: Int
        package var requests = 0
        /// The sum of the bodies that arrived: more than the video's size if bytes were sent again.
        package var bytes = 0
        /// The video that the complete upload became.
        package var video: String?
    }

    /// All the requests for one result.
    package struct Transfer: Codable, Equatable, Sendable {
        package var requests = 0
        package var bytes = 0
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
