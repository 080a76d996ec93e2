import PipelineCore
import PipelineSQL

/// The owner of a job and its lease, in the columns `owner`, `boot` and `lease_until`.
struct OwnerLease {
    let owner: OwnerID
    let boot: String
    let until: Int64

    /// Nil for a job that nobody took.
    init?(_ row: some SQLRow) {
        guard let owner = row.optionalText("owner") else { return nil }
        self.owner = OwnerID(owner)
        boot = row.text("boot")
        until = row.integer("lease_until")
    }
}

/// Which owners are alive, each looked at once.
struct LivingOwners<Owners: JournalOwners> {
    let owners: Owners
    private var known: [OwnerID: Bool] = [:]

    init(owners: Owners) { self.owners = owners }

    /// The owner of the lease, if it is alive.
    mutating func owner(_ lease: OwnerLease) -> OwnerID? {
        let isLiving = known[lease.owner] ?? owners.isLiving(lease.owner, boot: lease.boot, until: lease.until)
        known[lease.owner] = isLiving
        return isLiving ? lease.owner : nil
    }
}
