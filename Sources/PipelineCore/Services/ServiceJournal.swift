/// The part of a journal that keeps services, beyond jobs.
package protocol ServiceJournal: Sendable {
    /// The services that are closed, the first to open first.
    func closedServices() async throws(JournalFailure) -> [ClosedService]
    /// Keeps that a service is closed; nobody has a trial then.
    func closeService(_ service: ClosedService) async throws(JournalFailure)
    /// Gives the right to send one trial to a service whose time has passed, until another time. Returns false when somebody
    /// has it, or the service is closed for longer by now. The times of several processes that ask at once may differ by
    /// ``ClosedService/slack``: only what is further off was begun before a clock was set back.
    func beginTrial(of service: ServiceID, at now: Timestamp, until limit: Timestamp) async throws(JournalFailure)
        -> Bool
    /// Keeps that a service takes requests again.
    func openService(_ service: ServiceID) async throws(JournalFailure)
    /// Gives a step one of the places that a service has, unless it has one; it is free again once the step has ended.
    /// Returns false when all are taken.
    func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool
    /// Returns whether a job may order something: not an item of a batch of which the items before failed alike, while
    /// somebody works on that batch.
    func mayOrder(_ job: JobID) async throws(JournalFailure) -> Bool
    /// Claims a part of a service's rate for some seconds; nil of a journal whose processes each have a rate of their own.
    /// The parts of all processes never make more than the whole.
    func claimRate(of service: ServiceID) async throws(JournalFailure) -> RateShare?
    /// Says what to ask for when jobs of this process are due in a list that others share; nil of a journal that has none.
    /// What is to be asked for is this process's until it has ended the list, or for some seconds.
    func beginList(_ list: String, ids: [String], atMost: Int) async throws(JournalFailure) -> ListTurn?
    /// Keeps what a list response said of other processes' jobs until they come for it.
    func endList(_ list: String, asked: [String], entries: [String: ListEntry]) async throws(JournalFailure)
    /// Keeps when a job asks next, moved up to the time of another process's job if its plan lets it, and returns that time
    /// from now on; nil of a journal that has no lists.
    func planList(_ list: String, id: String, _ plan: ListPlan) async throws(JournalFailure) -> Duration?
}

/// A service that has said that it takes nothing before a time.
package struct ClosedService: Sendable, Hashable {
    package let id: ServiceID
    /// The name that a document gives it, or its host.
    package var name: String
    package var since: Timestamp
    package var until: Timestamp
    /// The number of times that it was closed with no success between.
    package var closings: Int
    /// Until when a trial has time to find out more; nil while there is none.
    package var trialUntil: Timestamp?

    package init(
        id: ServiceID, name: String, since: Timestamp, until: Timestamp, closings: Int, trialUntil: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.since = since
        self.until = until
        self.closings = closings
        self.trialUntil = trialUntil
    }

    /// More time than a commit takes to be written, and less than by which a clock is set back that matters.
    package static let slack = Duration.seconds(5)

    /// Returns when it takes a trial. Where the clock was set back since it closed nobody knows how long that is ago: a
    /// trial finds out now, and what it is told counts by the clock as it is.
    package func opens(at now: Timestamp) -> Timestamp { isOfLaterClock(at: now) ? now : until }

    /// True if the clock was set back since it closed.
    func isOfLaterClock(at now: Timestamp) -> Bool { since - now > Self.slack }
}
