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
            var places = state.image.places
            defer { state.image.places = places }
            return places.claim(MemoryPlaces.Place(job: job, step: step), at: service, limit: limit, in: state.image)
        }
    }

    package func mayOrder(_ job: JobID) async throws(JournalFailure) -> Bool {
        state.withLock { MemoryPlaces.batchAtWork(with: job, in: $0.image)?.batch.failsAlike != true }
    }
}
