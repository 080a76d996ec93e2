import PipelineCore

extension JobRows {
    /// A job's row as ownership sees it.
    struct Ownership {
        let number: Int64
        let epoch: Int
        /// The owner, if it keeps the job: it is alive, and its lease has not run out.
        let livingOwner: OwnerID?
        let hasEnded: Bool
    }

    /// Takes the job for the owner, with a higher epoch; `.owned` while a living owner has it.
    func acquire(_ job: JobID, for owner: OwnerID) throws(JournalFailure) -> Lease {
        try keep(owner)
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        if let other = found.livingOwner { throw .owned(by: other) }
        let update = try statement(.takeJob)
        update.bind(1, found.number)
        update.bind(2, owner.text)
        update.bind(3, found.epoch + 1)
        try update.run()
        return Lease(job: job, owner: owner, epoch: found.epoch + 1)
    }

    /// Lets the job go, unless the lease is stale.
    func release(_ lease: Lease) throws(JournalFailure) {
        let update = try statement(.releaseJob)
        update.bind(1, lease.job.text)
        update.bind(2, lease.owner.text)
        update.bind(3, lease.epoch)
        try update.run()
    }

    /// The row of the lease's job; `.stale` when the lease is not the last one.
    func number(under lease: Lease) throws(JournalFailure) -> Int64 {
        let query = try statement(.findLease)
        query.bind(1, lease.job.text)
        defer { query.reset() }
        guard try query.step() else { throw .noSuchJob(lease.job) }
        guard query.int(2) == lease.epoch, query.optionalText(1) == lease.owner.text else { throw .stale }
        return query.integer(0)
    }

    /// All jobs that the owner has.
    func jobs(of owner: OwnerID) throws(JournalFailure) -> Set<JobID> {
        let query = try statement(.listOwned)
        query.bind(1, owner.text)
        defer { query.reset() }
        var jobs: Set<JobID> = []
        while try query.step() { jobs.insert(JobID(query.text(0))) }
        return jobs
    }

    /// Writes the owner's lease anew.
    func keep(_ owner: OwnerID) throws(JournalFailure) {
        let lease = owners.newLease
        let update = try statement(.keepOwner)
        update.bind(1, owner.text)
        update.bind(2, lease.boot)
        update.bind(3, lease.until)
        try update.run()
    }

    func findOwner(of job: JobID) throws(JournalFailure) -> Ownership? {
        let query = try statement(.findOwner)
        query.bind(1, job.text)
        defer { query.reset() }
        guard try query.step() else { return nil }
        let owner = query.optionalText(2).map { OwnerID($0) }
        let living = owner.flatMap { owner in
            owners.isLiving(owner, boot: query.text(3), until: query.integer(4)) ? owner : nil
        }
        return Ownership(
            number: query.integer(0), epoch: query.int(1), livingOwner: living, hasEnded: !query.isNull(5))
    }

    /// Lets go what an earlier process left under the owner's name, and forgets owners without jobs.
    func clear(_ owner: OwnerID) throws(JournalFailure) {
        let update = try statement(.releaseAll)
        update.bind(1, owner.text)
        try update.run()
        try removeIdleOwners()
    }

    private func removeIdleOwners() throws(JournalFailure) {
        let query = try statement(.listOwners)
        var names: [String] = []
        while try query.step() { names.append(query.text(0)) }
        let removal = try statement(.removeIdleOwner)
        for name in names {
            removal.bind(1, name)
            try removal.run()
        }
    }
}
