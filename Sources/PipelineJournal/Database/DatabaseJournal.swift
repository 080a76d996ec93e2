package import PipelineCore

/// A journal in a database: all that is done by the statements which databases share. What differs between them is how a
/// transaction comes about, and how owners are known to live.
package protocol DatabaseJournal: Journal, BatchJournal, ServiceJournal, DurationHistory, JournalOverview,
    MetricsJournal, TraceJournal
{
    associatedtype Connection: JournalConnection

    /// Runs the body on one state of the database.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<Connection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value
    /// Runs the body inside a transaction, shared with other calls, and returns once that is committed. It may run
    /// several times, and must change nothing but rows.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value
    /// Writes what makes a job the owner's, as ``write(_:)`` does; from the commit on its lease is renewed.
    func own(
        as owner: OwnerID, _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Lease
    ) async throws(JournalFailure) -> Lease
}

extension DatabaseJournal {
    package func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await own(as: owner) { (rows) throws(JournalFailure) in try rows.insert(job, events, for: owner) }
    }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        try await own(as: owner) { (rows) throws(JournalFailure) in try rows.acquire(job, for: owner) }
    }

    package func adopt(_ record: JobRecord, under lease: Lease) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.documents.adopt(record, for: rows.number(under: lease))
        }
    }

    package func remove(_ job: JobID) async throws(JournalFailure) -> [JobID] {
        try await write { (rows) throws(JournalFailure) in try rows.remove(job) }
    }

    package func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try await read { (reader) throws(JournalFailure) in try reader.snapshot(job) }
    }

    package func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox? {
        try await read { (reader) throws(JournalFailure) in try reader.inbox(job) }
    }

    package func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        try await read { (reader) throws(JournalFailure) in try reader.jobs(query) }
    }

    /// The unfinished jobs that a background owner takes up without being told: those that nobody owns and that were
    /// started or last resumed for the background, other than paused and interrupted ones. Those with something that
    /// expires after `now` come first, in the order of these times, then the oldest.
    package func backgroundJobs(at now: Timestamp) async throws(JournalFailure) -> [JobID] {
        try await read { (reader) throws(JournalFailure) in try reader.background(at: now) }
    }

    /// The jobs of which somebody is still to be told and that nobody owns, oldest first.
    package func untoldJobs() async throws(JournalFailure) -> [JobID] {
        try await read { (reader) throws(JournalFailure) in try reader.untold() }
    }

    package func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        try await read { (reader) throws(JournalFailure) in try reader.events(job, after: sequence) }
    }

    package func resumes(since time: Timestamp, of pipeline: String?) async throws(JournalFailure) -> [ResumeRecord] {
        try await read { (reader) throws(JournalFailure) in try reader.resumes(since: time, of: pipeline) }
    }

    package func resumes(after number: Int, since time: Timestamp) async throws(JournalFailure) -> ResumeRows {
        try await read { (reader) throws(JournalFailure) in try reader.resumes(after: number, since: time) }
    }

    package func samples(of pipeline: String, limit: Int) async throws(JournalFailure) -> [StageSample] {
        try await read { (reader) throws(JournalFailure) in try reader.samples(of: pipeline, limit: limit) }
    }

    package func runningSamples(
        of pipeline: String, besides owner: OwnerID, at now: Timestamp, limit: Int
    ) async throws(JournalFailure) -> [StageSample] {
        try await read { (reader) throws(JournalFailure) in
            try reader.running(of: pipeline, besides: owner, at: now, limit: limit)
        }
    }

    /// The jobs that can't be read and the batches that count wrong, a sentence each. Reads every job.
    func wrongRows() async throws(JournalFailure) -> [String] {
        var mistakes: [String] = []
        for job in try await read({ (reader) throws(JournalFailure) in try reader.allJobs() }) {
            do throws(JournalFailure) {
                let snapshot = try await snapshot(of: job)
                let events = try await events(of: job, after: 0)
                let isWhole = zip(events, 1...).allSatisfy { event, place in event.sequence == place }
                if snapshot != nil, !isWhole { mistakes.append("the events of \(job) have gaps") }
            } catch {
                guard case .damaged(_, let reason) = error else { throw error }
                mistakes.append("\(job) can't be read: \(reason)")
            }
        }
        mistakes += try await read { (reader) throws(JournalFailure) in try reader.wrongCounts() }
        return mistakes
    }

    package func pipelines() async throws(JournalFailure) -> [String] {
        try await read { (reader) throws(JournalFailure) in try reader.pipelines() }
    }
}
