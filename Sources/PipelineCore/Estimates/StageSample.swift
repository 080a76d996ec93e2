/// The time that one step took, and the one that had been foretold: a row of the history that estimates are made from.
public struct StageSample: Sendable, Hashable {
    package var pipeline: String
    package var stage: String
    /// The stage's kind and the address of its service; a duration says nothing of another kind or service that came to
    /// stand under the stage's name. Nil in rows of versions that did not keep it.
    package var subject: String?
    /// The time when it ended.
    package var ended: Timestamp
    /// Seconds from its start to its end, as it was noticed.
    package var seconds: Double
    /// Seconds after its start at which it was last known not to have ended; zero when it was never asked.
    package var earliest: Double
    /// Bytes that it moved or that its job started from; nil when there is no such number.
    package var size: Double?
    /// The number of polls that it took.
    package var polls: Int
    /// The number of times that the engine got control back because of it.
    package var resumes: Int
    package var bytes: Int64
    /// The duration that was foretold at its start, in seconds; nil when nothing was.
    package var p50: Double?
    package var p90: Double?
    /// The natural logarithm of what was left over what the service had said was left; nil when it said nothing.
    package var remainingError: Double?
    /// The natural logarithm of what was left over what its progress had implied; nil when it told none.
    package var progressError: Double?
    /// True if it has not ended: ``seconds`` is for how long it is known to have run until ``ended``, and it takes
    /// longer. Such a sample is of a job that runs now; it is never a row of the history.
    package var isRunning = false

    package init(
        pipeline: String, stage: String, ended: Timestamp, seconds: Double, earliest: Double = 0, size: Double? = nil,
        polls: Int = 0, resumes: Int = 0, bytes: Int64 = 0, p50: Double? = nil, p90: Double? = nil,
        remainingError: Double? = nil, progressError: Double? = nil
    ) {
        self.pipeline = pipeline
        self.stage = stage
        self.ended = ended
        self.seconds = seconds
        self.earliest = earliest
        self.size = size
        self.polls = polls
        self.resumes = resumes
        self.bytes = bytes
        self.p50 = p50
        self.p90 = p90
        self.remainingError = remainingError
        self.progressError = progressError
    }

    var began: Timestamp { Timestamp(milliseconds: ended.milliseconds - Int64(min(seconds, 1e12) * 1000)) }

    /// The duration that a distribution is made from, and that what was foretold is held against: it ended somewhere
    /// between the last poll that found it running and the one that found its end, and the mean of the two in log time is
    /// as good a guess as any.
    var likelySeconds: Double {
        let end = max(seconds, 0.001)
        if isRunning { return end }
        guard earliest > 0, earliest < end else { return end }
        return (earliest * end).squareRoot()
    }
}
