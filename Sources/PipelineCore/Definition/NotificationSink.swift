public import JSONPath

/// A receiver of notifications: a webhook, a program, a desktop.
///
/// Whoever keeps the notifications calls it, never on the engine, and calls again as `isRetryable` says. A sink sends
/// each notification as often as it is told to: `JobNotification.id` lets a receiver know a repetition.
public protocol NotificationSink: Sendable {
    /// Returns when the other side has taken the notification. Cancelling the task gives it up.
    func deliver(_ notification: JobNotification) async throws(NotificationFailure)
}

/// A notification about a job; it holds no secrets.
public struct JobNotification: Sendable, Hashable {
    /// The identity of the notification, which stays over restarts and repetitions.
    public let id: String
    /// The event of the job.
    public let event: NotifyDefinition.Event
    /// The job that it happened to.
    public let job: JobID
    /// The name of the job's pipeline.
    public let pipeline: String
    /// The time when it happened, or is expected to.
    public let time: Timestamp
    /// One line for people.
    public let title: String
    /// The values that a program may want beyond it: captures, an error, an estimate.
    public let data: JSONObject

    package init(
        id: String, event: NotifyDefinition.Event, job: JobID, pipeline: String, time: Timestamp, title: String,
        data: JSONObject = [:]
    ) {
        self.id = id
        self.event = event
        self.job = job
        self.pipeline = pipeline
        self.time = time
        self.title = title
        self.data = data
    }

    /// The form in which programs and webhooks get it.
    public var json: JSON {
        [
            "id": .string(id), "on": .string(event.rawValue), "job": .string(job.text), "pipeline": .string(pipeline),
            "time": .string(time.description), "title": .string(title), "data": .object(data),
        ]
    }
}

/// A notification that was not delivered; data that a decision about another try reads.
public struct NotificationFailure: Error, Sendable, Hashable {
    /// The failure in words, without secrets.
    public let message: String
    /// A way to mend it, if that is known.
    public let hint: String?
    /// True if the same delivery may fare better later.
    public let isRetryable: Bool

    /// Says why a notification did not arrive. One that `isRetryable` is sent again later, with growing delays.
    public init(_ message: String, hint: String? = nil, isRetryable: Bool) {
        self.message = message
        self.hint = hint
        self.isRetryable = isRetryable
    }
}
