/// A place at which the program is killed, and what may be sent again after it.
struct Crash: Sendable, CustomStringConvertible {
    var point: String
    var pass = 1
    var round = 0
    /// Upload bytes that may arrive more than once: none where all that was sent was acknowledged.
    var uploadedAgain = 0
    /// How much of one request's body the server takes at first; nil for all of it.
    var serverTakes: Int?
    /// Result bytes that may come more than once.
    var downloadedAgain = 0

    var description: String { round == 0 ? "\(point):\(pass)" : "\(point):\(pass) round \(round)" }
    var environment: [String: String] { ["PIPELINE_CRASH_AT": "\(point):\(pass)"] }

    /// Each named point of a whole selfie job, and the second pass of those that it passes again.
    ///
    /// The studio's upload library forgets a complete upload with its answer, so that one is sent again; it is less
    /// than a part. A download's end is committed with the verdict on it, so that a part may come again.
    static let ofSelfie = rounds([
        Crash(point: "upload.created", uploadedAgain: Documents.videoSize),
        Crash(point: "upload.part", uploadedAgain: Documents.videoSize),
        Crash(point: "upload.sent", uploadedAgain: Documents.videoSize),
        Crash(point: "submit.intent"), Crash(point: "submit.sending"), Crash(point: "submit.sent"),
        Crash(point: "submit.answered"), Crash(point: "submit.committed"), Crash(point: "poll.answered"),
        Crash(point: "poll.answered", pass: 2), Crash(point: "download.part", downloadedAgain: 8 << 20),
        Crash(point: "download.verified"), Crash(point: "download.renamed"),
    ])

    /// Points of the upload of a file of several parts. In its middle at most a part is sent again.
    ///
    /// The parts go out in one request, and the kernel delivers what a killed program has handed to it. On a busy
    /// machine that can be the whole rest, whose answer nobody then has: so the server takes no more than is meant.
    static let ofLargeUpload = rounds(
        [Crash(point: "upload.created", uploadedAgain: part), Crash(point: "upload.sent", uploadedAgain: largeSize)]
            + [1, 2, 4].map { pass in
                Crash(point: "upload.part", pass: pass, uploadedAgain: part, serverTakes: pass * part + part / 2)
            })

    static let part = 4 << 20
    /// Not a whole number of parts.
    static let largeSize = 5 * part + 12_345

    private static func rounds(_ crashes: [Crash]) -> [Crash] {
        (0..<Rounds.count).flatMap { round in
            crashes.map { crash in
                var crash = crash
                crash.round = round
                return crash
            }
        }
    }
}
