package import JSONPath

/// One row of the journal: what somebody is to be told of a job, when, and whether that was done.
///
/// It is written with the event that it tells of, in one transaction, so that a crash loses none; and marked as sent
/// with the event `notification.sent`, so that none is sent again once that is kept. A crash between the two sends it
/// again under the same ``id``.
public struct NotificationRecord: Sendable, Hashable {
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// For a time to come, which may still move.
        case planned
        /// It happened, and is to be sent.
        case due
        case sent
        /// The job ended first.
        case withdrawn
        /// It could not be sent, and is not tried any more.
        case abandoned
    }

    /// The job's id, the place of the entry, and what it tells of; the same over restarts and repetitions.
    package let id: String
    /// The place of its entry in `notify`, from 0.
    package let entry: Int
    package let event: NotifyDefinition.Event
    package var state: State
    /// The time when it is to be sent, or tried again.
    package var due: Timestamp
    /// The time when it happened, or is expected to.
    package var time: Timestamp
    /// One line for people.
    package var title: String
    package var data: JSONObject
    /// The number of times that its sink failed.
    package var failures: Int
    /// The time when its sink failed first; nil while it has not.
    package var failingSince: Timestamp?
    /// The last message of its sink; nil while it has not failed.
    package var problem: String?

    package init(
        id: String, entry: Int, event: NotifyDefinition.Event, state: State, due: Timestamp, time: Timestamp,
        title: String, data: JSONObject = [:], failures: Int = 0, failingSince: Timestamp? = nil,
        problem: String? = nil
    ) {
        self.id = id
        self.entry = entry
        self.event = event
        self.state = state
        self.due = due
        self.time = time
        self.title = title
        self.data = data
        self.failures = failures
        self.failingSince = failingSince
        self.problem = problem
    }

    /// True if it is still to be sent.
    package var isOpen: Bool { state == .planned || state == .due }

    /// The longest time between two attempts.
    package static let longestDelay = Duration.seconds(900)

    /// Returns whether its time has come. No try waits longer than ``longestDelay``: when one seems to, the clock
    /// was set back.
    package func isReady(at now: Timestamp) -> Bool {
        isOpen && (due <= now || state == .due && due - now > Self.longestDelay)
    }

    /// Returns what a sink gets of it.
    package func notification(of job: JobID, pipeline: String) -> JobNotification {
        JobNotification(id: id, event: event, job: job, pipeline: pipeline, time: time, title: title, data: data)
    }
}
