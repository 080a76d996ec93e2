/// The behaviour of a studio; each value is a flag of the command.
package struct StudioSettings: Sendable {
    /// The folder of videos, models and what is still coming in; made if it is missing.
    package var dataFolder: String
    /// The port on 127.0.0.1; 0 is any free one.
    package var port: Int
    /// The token that clients must send as `Authorization: Bearer …`.
    package var token: String
    /// Scheme and authority in the addresses of uploads; nil is `http://127.0.0.1:PORT`.
    package var origin: String?
    /// The time for which an upload without a connection can be continued, in seconds.
    package var uploadPatience: Int
    /// Computations at a time.
    package var workers: Int
    /// The least a computation takes, in seconds.
    package var minimumSeconds: Double
    /// The time for which the answer to `POST /models` is held back, in seconds.
    package var submitSeconds: Double
    /// Bytes per second of each upload and each download; nil is as fast as can be.
    package var rate: Int?
    /// The share of requests answered 503.
    package var failPercent: Int
    /// Connections are cut when more bytes of a transfer's body than this come or go.
    package var cutAfter: Int?
    /// True if each request of a transfer is cut, or only the first.
    package var cutsEveryTime: Bool
    /// True if every computation ends in an error.
    package var failsModels: Bool
    /// The number of `POST /models` that are done but not answered.
    package var lostAnswers: Int

    /// A studio that is fast and has no faults.
    package init(dataFolder: String, port: Int = 0, token: String = "demo") {
        self.dataFolder = dataFolder
        self.port = port
        self.token = token
        origin = nil
        uploadPatience = 24 * 3600
        workers = 4
        minimumSeconds = 0
        submitSeconds = 0
        rate = nil
        failPercent = 0
        cutAfter = nil
        cutsEveryTime = false
        failsModels = false
        lostAnswers = 0
    }
}
