import PipelineCore
import PipelineSQL

extension JobRows {
    /// A job's row as ownership sees it.
    struct Ownership {
        let number: Int64
        let epoch: Int
        /// The owner, if it keeps the job: it is alive, and its lease has not run out.
        let livingOwner: OwnerID?
        /// The owner, alive or not.
        let lastOwner: OwnerID?
        let hasEnded: Bool
    }

    /// Acquires the job for the owner, with a higher epoch; `.owned` while a living owner has it.
    func acquire(_ job: JobID, for owner: OwnerID) throws(JournalFailure) -> Lease {
        try keep(owner)
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        if let other = found.livingOwner { throw .owned(by: other) }
        if let last = found.lastOwner, try !owners.isGone(last, on: connection) { throw .owned(by: last) }
        // Another process may have taken it since that look.
        let taken = try change(
            "UPDATE jobs SET owner = :owner, epoch = :epoch + 1 WHERE number = :job AND epoch = :epoch",
            ["owner": owner.text, "epoch": found.epoch, "job": found.number])
        guard taken == 1 else { throw .owned(by: try findOwner(of: job)?.lastOwner ?? owner) }
        return Lease(job: job, owner: owner, epoch: found.epoch + 1)
    }

    /// Lets the job go, unless the lease is stale.
    func release(_ lease: Lease) throws(JournalFailure) {
        try run(
            "UPDATE jobs SET owner = NULL WHERE id = :job AND owner = :owner AND epoch = :epoch",
            ["job": lease.job.text, "owner": lease.owner.text, "epoch": lease.epoch])
    }

    /// The row of the lease's job; `.stale` when the lease is not the last one.
    func number(under lease: Lease) throws(JournalFailure) -> Int64 {
        try owners.number(under: lease, on: connection)
    }

    /// All jobs that the owner has.
    func jobs(of owner: OwnerID) throws(JournalFailure) -> Set<JobID> {
        Set(try all("SELECT id FROM jobs WHERE owner = :owner", ["owner": owner.text]) { JobID($0.text("id")) })
    }

    /// Writes the owner's lease again.
    func keep(_ owner: OwnerID) throws(JournalFailure) {
        try owners.renew(owner, on: connection)
    }

    func findOwner(of job: JobID) throws(JournalFailure) -> Ownership? {
        try first(
            """
            SELECT number, epoch, ended, owner, boot, lease_until
            FROM jobs LEFT JOIN owners ON owners.id = jobs.owner WHERE jobs.id = :job
            """, ["job": job.text]
        ) { row in
            var living = LivingOwners(owners: owners)
            return Ownership(
                number: row.integer("number"), epoch: row.int("epoch"),
                livingOwner: OwnerLease(row).flatMap { living.owner($0) },
                lastOwner: row.optionalText("owner").map { OwnerID($0) }, hasEnded: !row.isNull("ended"))
        }
    }

    /// Lets go what an earlier process left under the owner's name, and removes owners without jobs.
    func clear(_ owner: OwnerID) throws(JournalFailure) {
        try run("UPDATE jobs SET owner = NULL WHERE owner = :owner", ["owner": owner.text])
        try run("DELETE FROM owners WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE owner = owners.id)")
    }
}
