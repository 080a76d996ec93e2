package import PipelineCore
import Synchronization

/// Closed services in memory, by the rules that all journals keep.
extension MemoryJournal: ServiceJournal {
    package func closedServices() async throws(JournalFailure) -> [ClosedService] {
        state.withLock { $0.image.services.values.sorted { ($0.until, $0.id.text) < ($1.until, $1.id.text) } }
    }

    package func closeService(_ service: ClosedService) async throws(JournalFailure) {
        state.withLock { $0.image.services[service.id] = service }
    }

    package func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) async throws(JournalFailure) -> Bool {
        state.withLock { state in
            let slack = ClosedService.slack
            guard let closed = state.image.services[service], closed.until <= now || closed.since > now + slack else {
                return false
            }
            if let trial = closed.trialUntil, trial > now, trial <= limit + slack { return false }
            state.image.services[service]?.trialUntil = limit
            return true
        }
    }

    package func openService(_ service: ServiceID) async throws(JournalFailure) {
        state.withLock { $0.image.services[service] = nil }
    }

    package func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool {
        state.withLock { state in
            let place = Image.Place(job: job, step: step)
            // A place is free once its step has ended.
            let image = state.image
            state.image.places[service, default: []] = image.places[service, default: []].filter { place in
                guard let job = image.rows[place.job]?.snapshot, job.ended == nil else { return false }
                return job.steps[place.step]?.state.isEnded != true
            }
            if state.image.places[service]?.contains(place) == true { return true }
            if let (own, batch) = image.batchAtWork(with: job), !image.letsIn(batch, of: own) { return false }
            guard state.image.places[service, default: []].count < limit else { return false }
            state.image.places[service, default: []].insert(place)
            return true
        }
    }

    package func mayOrder(_ job: JobID) async throws(JournalFailure) -> Bool {
        state.withLock { $0.image.batchAtWork(with: job)?.1.mayOrder ?? true }
    }
}

extension MemoryJournal.Image {
    /// A place that a remote job has at a service.
    struct Place: Sendable, Hashable {
        let job: JobID
        let step: StepKey
    }

    func batchAtWork(with job: JobID) -> (JobID, BatchRecord)? {
        guard let own = rows[job]?.snapshot.record.item?.batch, let whole = rows[own], whole.owner != nil else { return nil }
        return whole.snapshot.batch.map { (own, $0) }
    }

    /// Returns whether one more item of a batch may have a place.
    func letsIn(_ batch: BatchRecord, of job: JobID) -> Bool {
        guard batch.mayOrder else { return false }
        let held = places.values.joined().count { rows[$0.job]?.snapshot.record.item?.batch == job }
        return batch.settings.spend == nil || held < batch.affordableCount
    }

    mutating func freePlaces(of place: Place) {
        for service in places.keys { places[service]?.remove(place) }
    }
}
