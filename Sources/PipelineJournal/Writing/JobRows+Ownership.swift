import PipelineCore
import PipelineSQLite

extension JobRows {
    /// A job's row as ownership sees it.
    struct Ownership {
        let number: Int64
        let epoch: Int
        /// The owner, if it keeps the job: it is alive, and its lease has not run out.
        let livingOwner: OwnerID?
        let hasEnded: Bool
    }

    /// Acquires the job for the owner, with a higher epoch; `.owned` while a living owner has it.
    func acquire(_ job: JobID, for owner: OwnerID) throws(JournalFailure) -> Lease {
        try keep(owner)
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        if let other = found.livingOwner { throw .owned(by: other) }
        try run(
            "UPDATE jobs SET owner = :owner, epoch = :epoch WHERE number = :job",
            ["owner": owner.text, "epoch": found.epoch + 1, "job": found.number])
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
        let found = try first("SELECT number, owner, epoch FROM jobs WHERE id = :job", ["job": lease.job.text]) { row in
            (row.integer("number"), row.optionalText("owner"), row.int("epoch"))
        }
        guard let (number, owner, epoch) = found else { throw .noSuchJob(lease.job) }
        guard epoch == lease.epoch, owner == lease.owner.text else { throw .stale }
        return number
    }

    /// All jobs that the owner has.
    func jobs(of owner: OwnerID) throws(JournalFailure) -> Set<JobID> {
        Set(try all("SELECT id FROM jobs WHERE owner = :owner", ["owner": owner.text]) { JobID($0.text("id")) })
    }

    /// Writes the owner's lease anew.
    func keep(_ owner: OwnerID) throws(JournalFailure) {
        let lease = owners.newLease
        try run(
            """
            INSERT INTO owners (id, boot, lease_until) VALUES (:owner, :boot, :until)
            ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, lease_until = excluded.lease_until
            """, ["owner": owner.text, "boot": lease.boot, "until": lease.until])
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
                livingOwner: OwnerLease(row).flatMap { living.owner($0) }, hasEnded: !row.isNull("ended"))
        }
    }

    /// Lets go what an earlier process left under the owner's name, and removes owners without jobs.
    func clear(_ owner: OwnerID) throws(JournalFailure) {
        try run("UPDATE jobs SET owner = NULL WHERE owner = :owner", ["owner": owner.text])
        try run("DELETE FROM owners WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE owner = owners.id)")
    }
}
