/// Tells services apart: by the address and the credentials that they are asked with, not by the name in a document. Nothing
/// can be read out of it.
package struct ServiceID: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// The gate that knows whether services take requests now, for all jobs of all processes on one journal.
package protocol ServiceGate: Sendable {
    /// Asks whether a request may go out now. Whoever gets `.open` or `.trial` says by ``record(_:of:named:isTrial:)`` what
    /// came of it.
    func admit(_ service: ServiceID) async -> ServiceAdmission
    /// Takes in what a service answered. Returns how long it takes nothing more where this answer closes it; else nil.
    func record(
        _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
    ) async -> Duration?
    /// Asks for one of the places that a service has for jobs of ours, which is the step's until that has ended. Returns nil
    /// with a place, else when to ask again.
    func claimComputation(at service: ServiceID, for step: StepKey, of job: JobID, limit: Int) async -> Timestamp?
    /// Returns whether a job may order something that may cost: not an item of a batch that is to begin nothing more.
    func mayOrder(_ job: JobID) async -> Bool
    /// Returns when a request may begin at a service that takes so many a second of all processes on one journal, or the
    /// task is cancelled; at once where no other process has the journal, since each keeps to the rate by itself.
    /// - Parameter urgency: its place among those that wait.
    func turn(at service: ServiceID, requestsPerSecond: Double, urgency: Urgency) async
    /// Says what to ask for when jobs of this process are due in a list; nil where it shares none with other processes.
    /// The one that is told to ask says by ``endList(_:asked:entries:)`` what came of it.
    func beginList(_ list: String, ids: [String], atMost: Int) async -> ListTurn?
    /// Gives others what a list response said of their jobs.
    func endList(_ list: String, asked: [String], entries: [String: ListEntry]) async
    /// Returns when a job asks that could share a request with others; nil where no other process could.
    func planList(_ list: String, id: String, _ plan: ListPlan) async -> Duration?
}

/// The decision whether a request may go to a service now.
package enum ServiceAdmission: Sendable, Hashable {
    case open
    /// The service was closed; this one request finds out whether it still is.
    case trial
    /// Nothing goes there; whoever asked has its turn at that time.
    case closed(until: Timestamp)
}

/// The news that a response brings of the service as a whole.
package enum ServiceAnswer: Sendable, Hashable {
    /// It took the request, whatever it makes of it.
    case taken
    /// It takes nothing before the wait has passed (429 or 503 with Retry-After).
    case closed(Duration)
    /// It has too many requests and does not say for how long (429).
    case tooMany
    /// None came.
    case nothing

    /// - Parameter retryAfter: how long the answer asks to wait; less than a second says nothing.
    package init(status: Int, retryAfter: Duration?) {
        let wait = retryAfter.flatMap { $0 >= .seconds(1) ? $0 : nil }
        switch status {
        case 429: self = wait.map { .closed($0) } ?? .tooMany
        case 503: self = wait.map { .closed($0) } ?? .taken
        default: self = .taken
        }
    }
}

/// Services that are never closed and have any number of places.
package struct OpenServices: ServiceGate {
    package init() {}

    package func admit(_ service: ServiceID) async -> ServiceAdmission { .open }

    package func record(
        _ answer: ServiceAnswer, of service: ServiceID, named name: String, isTrial: Bool
    ) async -> Duration? { nil }

    package func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async -> Timestamp? { nil }
}
