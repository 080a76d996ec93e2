import PipelineCore

/// The places that remote jobs have at services, in a journal in memory.
struct MemoryPlaces: Sendable {
    /// A place that a remote job has at a service.
    struct Place: Sendable, Hashable {
        let job: JobID
        let step: StepKey
    }

    private var taken: [ServiceID: Set<Place>] = [:]

    /// Gives a step a place, unless it has one; false when it gets none.
    mutating func claim(_ place: Place, at service: ServiceID, limit: Int, in image: MemoryJournal.Image) -> Bool {
        // A place is free once its step has ended.
        let places = taken[service, default: []].filter { place in
            guard let job = image.rows[place.job]?.snapshot, job.ended == nil else { return false }
            return job.steps[place.step]?.state.isEnded != true
        }
        taken[service] = places
        if places.contains(place) { return true }
        if let (own, batch) = Self.batchAtWork(with: place.job, in: image),
            !batch.letsIn(besides: { atWork(of: own, in: image) })
        {
            return false
        }
        guard places.count < limit else { return false }
        taken[service, default: []].insert(place)
        return true
    }

    mutating func free(_ place: Place) {
        for service in taken.keys { taken[service]?.remove(place) }
    }

    /// The number of places that items of a batch have that are at work.
    private func atWork(of batch: JobID, in image: MemoryJournal.Image) -> Int {
        taken.values.joined().count { place in
            guard let row = image.rows[place.job] else { return false }
            return row.owner != nil && row.snapshot.record.item?.batch == batch
        }
    }

    /// The batch of which a job is an item, while somebody works on it.
    static func batchAtWork(
        with job: JobID, in image: MemoryJournal.Image
    ) -> (job: JobID, batch: BatchRecord)? {
        guard let own = image.rows[job]?.snapshot.record.item?.batch, let whole = image.rows[own], whole.owner != nil
        else {
            return nil
        }
        return whole.snapshot.batch.map { (own, $0) }
    }
}
