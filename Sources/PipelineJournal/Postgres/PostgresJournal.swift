package import PipelineCore
package import PipelinePostgres
import PipelineSQL
import Synchronization

/// The journal in a PostgreSQL database (14 or later) that many machines share.
///
/// What a call wrote is committed when it returns. Calls of many jobs share a transaction. A process lives, for the others,
/// while the lease of its row has not run out by the database's clock; it is renewed every third of its length, and
/// each write of a job names owner and epoch. A commit whose answer was lost is reconciled by a token, never sent twice.
/// While the database is away a worker waits, a command gives up after its patience.
package final class PostgresJournal: DatabaseJournal {
    /// The name under which this process owns jobs.
    package let owner: OwnerID
    let address: PostgresAddress
    let writer: PostgresWriter
    let reader: PostgresReader
    let owners: PostgresOwners
    let hub: PostgresHub

    /// The settings by which a process works with the database.
    package struct Options: Sendable {
        /// A name for the process's jobs; by default one that no other has.
        package var owner: OwnerID?
        /// The machine, which jobs with local files belong to; by default its host name.
        package var host: String?
        /// The program's version, for `pipeline workers`.
        package var version = ""
        /// The address at which to listen, when the address is that of a pooler; nil for the address itself.
        package var listenAddress: String?
        /// The time for which a worker that is dead or stopped keeps its jobs, by the database's clock.
        package var leaseLength = Duration.seconds(30)
        /// The time between two looks at the rows for what no message told.
        package var lookInterval = Duration.seconds(5)
        /// The time for which a command waits for a database that is away.
        package var patience = Duration.seconds(20)
        /// The clock that tells a process that its own lease may be over.
        package var clock: any LeaseClock = BootLeaseClock()
        /// Told why the database can't be reached for now, and nil once it can again.
        package var observe: @Sendable (JournalFailure?) -> Void = { _ in }

        package init() {}
    }

    /// Opens the journal at an address of libpq. Throws when there is no libpq of version 14, when the server can't be
    /// reached or refuses, is older than 14, or when its schema is missing, older or newer than this program works with.
    package init(_ text: String, options: Options = Options()) throws(JournalFailure) {
        let address = PostgresAddress(text)
        self.address = address
        let time = try Self.check(address, by: options.clock)
        let name = options.owner ?? Self.newName(on: options.host ?? Self.hostName)
        let owners = PostgresOwners(
            owner: name, host: options.host ?? Self.hostName, version: options.version, clock: options.clock,
            time: time, length: Int64(options.leaseLength / .milliseconds(1)))
        let outage = PostgresOutage(
            of: address.description, clock: options.clock, patience: options.patience, isWorker: { owners.isWorker },
            observe: options.observe)
        writer = try PostgresWriter(address, owners: owners, outage: outage)
        reader = PostgresReader(address, owners: owners, outage: outage)
        hub = PostgresHub(
            options.listenAddress.map { PostgresAddress($0) } ?? address, interval: options.lookInterval, owner: name,
            reader: reader)
        self.owners = owners
        owner = name
    }

    deinit {
        hub.close()
        reader.close()
        writer.close()
    }

    /// Returns whether a journal's address is one of PostgreSQL.
    package static func isAddress(_ text: String) -> Bool { PostgresAddress.isOne(text) }

    /// An address without what is secret in it.
    package static func place(of text: String) -> String { PostgresAddress(text).description }

    /// Throws for a server or a schema that can't be worked with; gives the server's time.
    private static func check(
        _ address: PostgresAddress, by clock: any LeaseClock
    ) throws(JournalFailure) -> DatabaseTime {
        let connection: PostgresConnection
        let found: PostgresSchema.Version
        do throws(PostgresError) {
            connection = try PostgresConnection(address, name: "pipeline")
            found = try PostgresSchema.version(of: connection)
        } catch {
            throw JournalFailure(error, at: address)
        }
        switch found {
        case .missing:
            throw .refused(
                place: address.description, reason: "it has no journal yet",
                hint: "make it with 'pipeline journal migrate'")
        case .at(let version) where version < PostgresSchema.oldest:
            throw .refused(
                place: address.description, reason: "its journal is older than this program",
                hint: "bring it up to date with 'pipeline journal migrate'")
        case .at(let version) where version > PostgresSchema.steps.count:
            throw .newer(file: address.description)
        case .at: break
        }
        return try DatabaseTime(clock, on: connection)
    }

    /// Makes the schema, or brings it up to date; returns how many steps that took. Throws `.newer` for one of a later
    /// version.
    package static func migrate(_ text: String) throws(JournalFailure) -> Int {
        let address = PostgresAddress(text)
        let done: Int?
        do throws(PostgresError) {
            done = try PostgresSchema.migrate(try PostgresConnection(address, name: "pipeline migrate") { _ in true })
        } catch {
            throw JournalFailure(error, at: address)
        }
        guard let done else { throw .newer(file: address.description) }
        return done
    }

    /// The SQL that ``migrate(_:)`` would run on an empty database.
    package static var migrationText: String { PostgresSchema.dump }

    /// Lets the jobs go that this process has, writes what was called for, and closes the connections.
    package func close() async {
        let leases = owners.leases
        if !leases.isEmpty || owners.isWorker {
            let name = owner
            try? await writer.write { (rows) throws(JournalFailure) in
                for lease in leases { try rows.release(lease) }
                for owner in Set(leases.map(\.owner)).union([name]) {
                    try rows.run(
                        "UPDATE workers SET lease_until = clock_timestamp(), at_once = NULL WHERE id = :owner",
                        ["owner": owner.text])
                }
                try PostgresHub.tellOfWork(rows.connection)
            }
        }
        hub.close()
        reader.close()
        writer.close()
        await writer.ended()
    }

    /// The time of day by the database's clock, which all machines share, read at the opening and with each renewal.
    package var now: Timestamp { owners.time.now }
    /// Writes what was measured and is held back for a moment: for a process that is about to end, and may have let go of the
    /// journal by then.
    package var flush: @Sendable () async -> Void { { [writer] in await writer.flush() } }

    /// The numbers of calls and of the transactions that they shared, since the journal was opened.
    package var statistics: JournalStatistics { writer.statistics }
}

extension PostgresJournal {
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<PostgresConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value { try await reader.read(body) }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (JobRows<PostgresConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value { try await writer.write(body) }

    package func own(
        as owner: OwnerID, _ body: @escaping @Sendable (JobRows<PostgresConnection>) throws(JournalFailure) -> Lease
    ) async throws(JournalFailure) -> Lease {
        try await enter(owner)
        return try await writer.write(onCommit: { [owners] in owners.add($0) }, body)
    }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        if owner == self.owner, let lease = hub.takeClaim(of: job) { return lease }
        return try await own(as: owner) { (rows) throws(JournalFailure) in try rows.acquire(job, for: owner) }
    }

    package func holds(_ lease: Lease) -> Bool { owners.holds(lease) }

    package func release(_ lease: Lease) async throws(JournalFailure) {
        try await writer.writeForSure(onCommit: { [owners] in owners.remove(lease) }) {
            (rows) throws(JournalFailure) in
            try rows.release(lease)
            try PostgresHub.tellOfWork(rows.connection)
        }
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let endsOwnership = changes.contains(where: \.endsOwnership)
        // Before others, and this process, are told of it.
        for case .released(.some) in changes where lease.owner == owner { hub.leaveToOthers(lease.job) }
        do {
            try await writer.write(onCommit: { [owners] _ in if endsOwnership { owners.remove(lease) } }) {
                (rows) throws(JournalFailure) in
                try rows.apply(changes, to: rows.number(under: lease))
                if endsOwnership { try PostgresHub.tellOfWork(rows.connection) }
                if changes.contains(where: \.isItem) { try rows.tellBatch(of: lease.job, besides: lease.owner) }
            }
        } catch {
            if error == .stale { owners.remove(lease) }
            throw error
        }
        for case .resume(let record) in changes where record.charge == .attended {
            hub.tellAll(.delaysReset(pipeline: record.pipeline))
        }
    }

    /// Makes sure that nothing stands under the owner's name that an earlier process left.
    func enter(_ owner: OwnerID) async throws(JournalFailure) {
        if owners.isCleared(owner) { return }
        try await writer.write(onCommit: { [owners] _ in owners.markCleared(owner) }) {
            [owners] (rows) throws(JournalFailure) in
            // Another call may have been first, and taken jobs since.
            if !owners.isCleared(owner) { try owners.clear(owner, on: rows.connection) }
        }
    }

    package func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        try await writer.write { (rows) throws(JournalFailure) in
            guard let owner = try rows.post(request, to: job) else { return false }
            try PostgresHub.tell(.inbox(job), owner, rows.connection)
            return true
        }
    }

    package func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        try await writer.write { (rows) throws(JournalFailure) in
            let (isNew, owner) = try rows.post(push, to: step, of: job)
            if let owner { try PostgresHub.tell(.inbox(job), owner, rows.connection) }
            return CallbackReceipt(isNew: isNew, isHeard: owner != nil)
        }
    }

    package func requests(for owner: OwnerID) -> AsyncStream<JobID> { hub.requests(for: owner) }
}

extension JournalChange {
    fileprivate var isItem: Bool { if case .item = self { true } else { false } }
}

extension JobRows where Connection == PostgresConnection {
    /// Tells the worker that has the batch of an item's job that the item is another one now.
    fileprivate func tellBatch(of job: JobID, besides owner: OwnerID) throws(JournalFailure) {
        let batch = try first(
            """
            SELECT batches.id AS id, batches.owner AS owner FROM jobs JOIN jobs AS batches ON batches.number = jobs.batch
            WHERE jobs.id = :job AND batches.owner <> :owner
            """, ["job": job.text, "owner": owner.text]
        ) { (id: JobID($0.text("id")), owner: OwnerID($0.text("owner"))) }
        if let batch { try PostgresHub.tell(.inbox(batch.id), batch.owner, connection) }
    }
}
