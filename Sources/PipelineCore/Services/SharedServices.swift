/// How much of a service's rate one process may use.
package struct RateShare: Sendable, Hashable {
    /// From 0 to 1.
    package let part: Double
    /// How long it is this process's, from before it asked.
    package let lasting: Duration

    package init(part: Double, lasting: Duration) {
        self.part = part
        self.lasting = lasting
    }
}

/// The part of a list response about one remote job.
package struct ListEntry: Sendable, Hashable {
    package let url: String
    package let body: [UInt8]

    package init(url: String, body: [UInt8]) {
        self.url = url
        self.body = body
    }
}

/// The work of one process on a list that several processes share: the remote jobs in it that are due.
package struct ListTurn: Sendable, Hashable {
    /// The ids to ask for now: own ones, and those of others that are due.
    package var ask: [String]
    /// The entries that another process has got by its request; nil for an id that its response did not name.
    package var known: [String: ListEntry?]
    /// Own ids that another process asks for right now.
    package var pending: [String]

    package init(ask: [String], known: [String: ListEntry?] = [:], pending: [String] = []) {
        self.ask = ask
        self.known = known
        self.pending = pending
    }
}

/// When a job that shares a list asks, from now on.
package struct ListPlan: Sendable, Hashable {
    /// The earliest time at which the job's own plan lets it ask.
    package var earliest: Duration
    package var due: Duration

    package init(earliest: Duration, due: Duration) {
        self.earliest = earliest
        self.due = due
    }
}

/// A journal that one process works with at a time, as far as services are concerned, shares nothing.
extension ServiceJournal {
    package func claimRate(of service: ServiceID) async throws(JournalFailure) -> RateShare? { nil }
    package func beginList(
        _ list: String, ids: [String], atMost: Int
    ) async throws(JournalFailure) -> ListTurn? { nil }
    package func endList(
        _ list: String, asked: [String], entries: [String: ListEntry]
    ) async throws(JournalFailure) {}
    package func planList(_ list: String, id: String, _ plan: ListPlan) async throws(JournalFailure) -> Duration? {
        nil
    }
}

/// Services that only this process asks.
extension ServiceGate {
    package func mayOrder(_ job: JobID) async -> Bool { true }
    package func turn(at service: ServiceID, requestsPerSecond: Double, urgency: Urgency) async {}
    package func beginList(_ list: String, ids: [String], atMost: Int) async -> ListTurn? { nil }
    package func endList(_ list: String, asked: [String], entries: [String: ListEntry]) async {}
    package func planList(_ list: String, id: String, _ plan: ListPlan) async -> Duration? { nil }
}
