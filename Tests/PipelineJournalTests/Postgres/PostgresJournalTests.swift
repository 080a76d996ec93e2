import CLibrary
import JSONPath
import JournalConformance
import PipelineCore
import PipelinePostgres
import PipelineSQL
import PipelineSQLite
import PipelineTestKit
import Testing

@testable import PipelineJournal

/// What only a journal has that machines share.
@Suite("A journal in PostgreSQL", .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct PostgresJournalTests {
    private func background(_ number: Int) -> JobSnapshot {
        let job = JobSnapshot.example(number, key: "key-\(number)")
        return JobSnapshot(record: job.record, steps: job.steps, mode: .background)
    }

    private func submit(_ count: Int, to journal: PostgresJournal) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...count {
                group.addTask {
                    let lease = try await journal.create(background(number), events: [], owner: journal.owner)
                    try await journal.release(lease)
                }
            }
            try await group.waitForAll()
        }
    }

    /// They were added in the order of the table, which each commit changes: counters fell by their last bit.
    @Test("what several workers measured is added up in one order, whichever wrote last")
    func measuredOrder() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        for (pipeline, sums) in [("p", ["1e16", "1", "1"]), ("q", ["1", "1", "1e16"])] {
            for (worker, sum) in sums.enumerated() {
                try await world.server.query(
                    """
                    INSERT INTO pipeline.metrics (worker, metric, labels, bucket, count, sum)
                    VALUES ('worker-\(worker)', 'pipeline_cost_total', '["\(pipeline)"]', 0, 1, \(sum))
                    """, in: world.database)
            }
        }
        let sums = try await journal.measured().sums
        #expect(sums[Measurements.Series(.cost, ["p"])]?.sum == 1e16 + 2)
        #expect(sums[Measurements.Series(.cost, ["q"])]?.sum == 1e16 + 2)
        await journal.close()
    }

    @Test("has the tables and columns of the one in SQLite")
    func hasSameColumns() async throws {
        let (here, there) = (try SQLiteWorld(), try await PostgresWorld())
        defer { here.remove() }
        await (try here.openSQLite()).close()
        let connection = try SQLiteConnection(StateFolder(here.state).database, busyTimeout: .seconds(1))
        let tables = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'grdb_migrations' AND name NOT LIKE 'sqlite%'"
        )
        #expect(tables.count >= 14)
        for table in tables {
            // A row that each commit of a job would change: there the events have the number. Rows of metrics are each
            // process's own, and written in one statement.
            let expected = Set(try connection.texts("SELECT name FROM pragma_table_info('\(table)')"))
                .subtracting(table == "jobs" ? ["changed"] : table == "metrics" ? ["number"] : [])
            let found = try await there.server.query(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = 'pipeline' AND table_name = '\(table)'",
                in: there.database)
            let columns = Set(found.split(separator: "\n").map(String.init))
            #expect(columns.isSuperset(of: expected), "\(table) lacks \(expected.subtracting(columns))")
        }
    }

    @Test("is migrated once, and says so where it is not")
    func migrates() async throws {
        let server = try await PostgresServer.shared()
        let address = server.address(of: try await server.makeDatabase())
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        #expect("\(failure as Any)".contains("pipeline journal migrate"))
        #expect(try PostgresJournal.migrate(address) == PostgresSchema.steps.count)
        #expect(try PostgresJournal.migrate(address) == 0)
        await (try PostgresJournal(address)).close()
    }

    @Test("of the version before is used as it is, an older one is not")
    func olderSchema() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        #expect(try PostgresJournal.migrate(address) == PostgresSchema.steps.count)
        try await server.query("DELETE FROM pipeline.versions WHERE number > \(PostgresSchema.oldest)", in: database)
        await (try PostgresJournal(address)).close()
        #expect(try PostgresJournal.migrate(address) == PostgresSchema.steps.count - PostgresSchema.oldest)
        try await server.query("DELETE FROM pipeline.versions WHERE number >= \(PostgresSchema.oldest)", in: database)
        let failure = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        #expect("\(failure as Any)".contains("older than this program"))
    }

    @Test("has no checks, which would be read from text by each statement, but keys and references")
    func checks() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        _ = try PostgresJournal.migrate(server.address(of: database))
        func count(_ kind: String) async throws -> Int? {
            let found = try await server.query(
                "SELECT count(*) FROM pg_constraint WHERE contype = '\(kind)' AND connamespace = 'pipeline'::regnamespace",
                in: database)
            return Int(found)
        }
        #expect(try await count("c") == 0)
        #expect(try await count("p") ?? 0 > 20)
        #expect(try await count("f") ?? 0 > 5)
    }

    @Test("of a newer program is refused, and the printed SQL makes the same one")
    func refusesNewer() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        try await server.query(PostgresJournal.migrationText, in: database)
        await (try PostgresJournal(server.address(of: database))).close()
        try await server.query("INSERT INTO pipeline.versions (number, name) VALUES (99, 'later')", in: database)
        #expect(throws: JournalFailure.newer(file: PostgresJournal.place(of: server.address(of: database)))) {
            _ = try PostgresJournal(server.address(of: database))
        }
        // It was said to be up to date once.
        #expect(throws: JournalFailure.newer(file: PostgresJournal.place(of: server.address(of: database)))) {
            _ = try PostgresJournal.migrate(server.address(of: database))
        }
    }

    @Test("the check finds a batch that counts wrong")
    func findsWrongCounts() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        var job = JobSnapshot.example(1, key: "june")
        job.steps = [:]
        let batch = BatchRecord(sources: ["x"], folder: "/", settings: BatchSettings())
        _ = try await journal.create(batch, job: job, events: [], owner: journal.owner)
        #expect(try await journal.checkIntegrity().isEmpty)
        try await world.server.query("UPDATE pipeline.batches SET pending = 3", in: world.database)
        #expect(
            try await journal.checkIntegrity() == ["the batch 'june' says that 3 items are pending, and 0 are"])
        await journal.close()
    }

    @Test("lets two workers race for 1,000 jobs, and gives each to one")
    func givesEachJobOnce() async throws {
        let world = try await PostgresWorld()
        let (one, other, third) = (try world.openPostgres(), try world.openPostgres(), try world.openPostgres())
        try await submit(1000, to: third)
        func claimAll(_ journal: PostgresJournal) async throws -> [Lease] {
            var leases: [Lease] = []
            while true {
                let jobs = try await journal.claimJobs(7, at: .at(1))
                if jobs.isEmpty { return leases }
                for job in jobs { leases.append(try await journal.acquire(job, for: journal.owner)) }
            }
        }
        async let first = claimAll(one)
        async let second = claimAll(other)
        let leases = try await first + second
        #expect(leases.count == 1000 && Set(leases.map(\.job)).count == 1000)
        for lease in leases where lease.owner == one.owner { #expect(one.holds(lease)) }
        for journal in [one, other, third] { await journal.close() }
    }

    /// As many steps as jobs were wanted were looked at: those of one job, and of jobs that others have, hid all the rest.
    @Test("gives jobs in the order in which something of them expires, then by age")
    func pressedFirst() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        func create(_ number: Int, expiring times: Int64...) async throws -> Lease {
            var job = background(number)
            job.steps = [.upload: StepRecord()]
            for (item, time) in times.enumerated() {
                var step = StepRecord()
                step.expires = .at(time)
                job.steps[StepKey(stage: "model", item: item)] = step
            }
            return try await journal.create(job, events: [], owner: journal.owner)
        }
        // Of the second everything is over by now.
        let leases = [
            try await create(1), try await create(2, expiring: 50), try await create(3, expiring: 500),
            try await create(4, expiring: 400), try await create(5, expiring: 300, 310, 320),
        ]
        for lease in leases { try await journal.release(lease) }
        for number in 6...9 { _ = try await create(number, expiring: 200, 210) }
        #expect(try await journal.claimJobs(2, at: .at(100)) == [leases[4].job, leases[3].job])
        // The two are not begun yet, and count.
        #expect(
            try await journal.claimJobs(5, at: .at(100)) == [leases[2].job, leases[0].job, leases[1].job])
        await journal.close()
    }

    @Test("gives a dead worker's jobs to another, with a higher epoch, and refuses what the first still writes")
    func takesOver() async throws {
        let world = try await PostgresWorld()
        let (first, second) = (try world.openPostgres(), try world.openPostgres())
        try await first.becomeWorker(atOnce: 4)
        try await submit(1, to: second)
        let job = try #require(try await first.claimJobs(4, at: .at(1)).first)
        let lease = try await first.acquire(job, for: first.owner)
        #expect(try await second.claimJobs(4, at: .at(1)).isEmpty)
        await world.stop(first.owner)
        #expect(!first.holds(lease))
        #expect(try await second.claimJobs(4, at: .at(1)) == [job])
        let next = try await second.acquire(job, for: second.owner)
        #expect(next.epoch > lease.epoch)
        await #expect(throws: JournalFailure.stale) { try await first.commit([.requested(nil)], under: lease) }
        for journal in [first, second] { await journal.close() }
    }

    /// A worker that came to tell of a job's start took it from the one that had claimed it, and ran it no more than that
    /// one did: jobs lay for a minute.
    @Test("has those tell of a job that may claim it; of others anybody")
    func untold() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        var leases: [Lease] = []
        for number in 1...3 {
            var job = background(number)
            job.notifications["n"] = NotificationRecord(
                id: "n", entry: 0, event: .started, state: .due, due: .at(1), time: .at(1), title: "started")
            leases.append(try await journal.create(job, events: [], owner: journal.owner))
        }
        try await journal.commit([.released(nil)], under: leases[0])
        try await journal.commit([.released(.paused)], under: leases[1])
        try await journal.commit([.ended(.at(2))], under: leases[2])
        #expect(try await journal.untoldJobs() == [leases[1].job, leases[2].job])
        #expect(try await journal.claimJobs(4, at: .at(1)) == [leases[0].job])
        await journal.close()
    }

    @Test("says that a job crashed whose command died, also once a worker has let it go")
    func tellsCrash() async throws {
        let world = try await PostgresWorld()
        let (first, second) = (try world.openPostgres(), try world.openPostgres())
        try await first.becomeWorker(atOnce: 4)
        try await submit(1, to: second)
        var job = background(2)
        job.mode = .attached
        let lease = try await first.create(job, events: [], owner: first.owner)
        await world.stop(first.owner)
        #expect(try await second.claimJobs(4, at: .at(1)).count == 1)
        let found = try #require(try await second.snapshot(of: lease.job))
        #expect(found.suspension(isOwned: false) == .crashed)
        let next = try await second.acquire(lease.job, for: second.owner)
        try await second.commit([.taken(.attached)], under: next)
        #expect(try await second.snapshot(of: lease.job)?.cause == nil)
        for journal in [first, second] { await journal.close() }
    }

    /// After an outage of the database the first worker that came back took the jobs of all others, whose leases had run out
    /// as its own had: a submit that was answered meanwhile was unknown. A job was also taken to notify somebody.
    @Test("gives jobs of workers that could not renew to one that has come back a lease ago")
    func takesOverAfterOutage() async throws {
        let world = try await PostgresWorld()
        let (first, second) = (try world.openPostgres(), try world.openPostgres())
        try await first.becomeWorker(atOnce: 4)
        try await second.becomeWorker(atOnce: 4)
        var job = background(1)
        job.notifications["n"] = NotificationRecord(
            id: "n", entry: 0, event: .late, state: .due, due: .at(1), time: .at(1), title: "late")
        let lease = try await first.create(job, events: [], owner: first.owner)
        // For so long nobody could renew; then both are back, the second one first.
        world.clock.advance(by: 3_700_000)
        try await world.server.query(
            "UPDATE pipeline.workers SET lease_until = now() - interval '1 minute'", in: world.database)
        for _ in 1...2 { #expect(try await second.claimJobs(4, at: .at(1)).isEmpty) }
        #expect(try await second.untoldJobs().isEmpty)
        try await first.commit([.requested(nil)], under: lease)
        world.clock.advance(by: 1_700_000)
        // The first is dead now. That the second has lived for a lease since counts, and that it has renewed lately.
        try await world.server.query(
            "UPDATE pipeline.workers SET lease_until = now() - interval '1 minute' WHERE id = '\(first.owner.text)'",
            in: world.database)
        #expect(try await second.claimJobs(4, at: .at(1)).isEmpty)
        world.clock.advance(by: 1_700_000)
        _ = try await second.claimJobs(4, at: .at(1))
        world.clock.advance(by: 300_000)
        #expect(try await second.claimJobs(4, at: .at(1)) == [lease.job])
        for journal in [first, second] { await journal.close() }
    }

    @Test("gives jobs of a worker that ends at once to others, which are told of it")
    func letsGoAtTheEnd() async throws {
        let world = try await PostgresWorld()
        let (first, second) = (try world.openPostgres(), try world.openPostgres())
        try await first.becomeWorker(atOnce: 4)
        try await submit(3, to: second)
        #expect(try await first.claimJobs(4, at: .at(1)).count == 3)
        #expect(try await second.workers().first { $0.name == first.owner.text }?.jobs == 3)
        await first.close()
        #expect(try await second.workers().isEmpty)
        #expect(try await second.claimJobs(4, at: .at(1)).count == 3)
        await second.close()
    }

    @Test("wakes workers when there is work")
    func tellsOfWork() async throws {
        let world = try await PostgresWorld()
        let worker = try world.openPostgres { $0.lookInterval = .seconds(3600) }
        let other = try world.openPostgres()
        var work = worker.work().makeAsyncIterator()
        _ = await work.next()
        // What comes when it begins to listen.
        _ = await work.next()
        try await submit(1, to: other)
        _ = await work.next()
        #expect(worker.isHearing)
        #expect(try await worker.claimJobs(1, at: .at(1)).count == 1)
        for journal in [worker, other] { await journal.close() }
    }

    @Test("a declined job is free for others, and not claimed again by the same")
    func declines() async throws {
        let world = try await PostgresWorld()
        let (one, other) = (try world.openPostgres(), try world.openPostgres())
        try await submit(1, to: other)
        let job = try #require(try await one.claimJobs(1, at: .at(1)).first)
        try await one.decline(job)
        #expect(try await one.claimJobs(1, at: .at(1)).isEmpty)
        #expect(try await other.claimJobs(1, at: .at(1)) == [job])
        for journal in [one, other] { await journal.close() }
    }

    /// Each worker claimed it and declined it for five minutes, and so did not claim it once a person had resolved it.
    @Test("a job whose submit is unknown is claimed by nobody, and at once when it is resolved")
    func leavesUnknown() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        let unknown = UnknownSubmit(key: "k", since: .at(3), reason: "lost")
        var lease = try await journal.create(background(1), events: [], owner: journal.owner)
        var step = StepRecord(state: .unknown(AttemptState(), unknown))
        step.version = 1
        try await journal.commit([.step(.upload, step)], under: lease)
        try await journal.release(lease)
        #expect(try await journal.claimJobs(1, at: .at(1)).isEmpty)
        lease = try await journal.acquire(lease.job, for: journal.owner)
        step.state = .waiting(AttemptState(), .at(.at(9)), WaitReason(.poll))
        step.version = 2
        try await journal.commit([.step(.upload, step)], under: lease)
        try await journal.release(lease)
        #expect(try await journal.claimJobs(1, at: .at(1)) == [lease.job])
        await journal.close()
    }

    /// The job of an item stayed unknown, with a request that nobody heard, when the batch that it belongs to was cancelled.
    @Test("a job whose submit is unknown is claimed once a person wants it cancelled")
    func claimsUnknownToCancel() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        let unknown = StepState.unknown(AttemptState(), UnknownSubmit(key: "k", since: .at(3), reason: "lost"))
        let job = background(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        try await journal.commit([job.next(.upload, unknown), .released(nil)], under: lease)
        #expect(try await journal.claimJobs(1, at: .at(1)).isEmpty)
        #expect(try await !journal.post(.cancel, to: lease.job))
        #expect(try await journal.claimJobs(1, at: .at(1)) == [lease.job])
        await journal.close()
    }

    @Test("a job that lacks something here is left to others, and is taken again once a person goes on with it")
    func leavesToOthers() async throws {
        let world = try await PostgresWorld()
        let (one, other) = (try world.openPostgres(), try world.openPostgres())
        try await submit(1, to: other)
        let job = try #require(try await one.claimJobs(1, at: .at(1)).first)
        let lease = try await one.acquire(job, for: one.owner)
        try await one.commit([.released(.secret)], under: lease)
        #expect(try await one.claimJobs(1, at: .at(1)).isEmpty)
        #expect(try await other.claimJobs(1, at: .at(1)) == [job])
        let next = try await other.acquire(job, for: other.owner)
        try await other.commit([.released(.secret)], under: next)
        #expect(try await one.claimJobs(1, at: .at(1)).isEmpty)
        #expect(try await other.claimJobs(1, at: .at(1)).isEmpty)
        let asked = try await other.acquire(job, for: other.owner)
        try await other.commit([.taken(.background)], under: asked)
        try await other.release(asked)
        #expect(try await one.claimJobs(1, at: .at(1)) == [job])
        for journal in [one, other] { await journal.close() }
    }

    /// A worker whose clock was an hour ahead took a job over whose deadline was in half an hour, and failed it.
    @Test("has the database's time of day, read again with each renewal, whatever the clocks of machines say")
    func tellsTime() async throws {
        let world = try await PostgresWorld()
        let journal = try world.openPostgres()
        let there = try await world.server.query(
            "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", in: world.database)
        #expect(abs(journal.now.milliseconds - (Int64(there) ?? 0)) < 60_000)
        // Between two readings it is counted on by a clock that nobody sets; here it runs too fast.
        try await journal.becomeWorker(atOnce: 1)
        let start = journal.now
        world.clock.advance(by: 1_300_000)
        #expect(journal.now - start == .seconds(1_300))
        _ = try await journal.create(.example(1), events: [], owner: journal.owner)
        #expect(journal.now - start < .seconds(600))
        await journal.close()
    }

    // MARK: Lost connections

    @Test(
        "settles a commit whose answer was lost, and applies nothing twice",
        arguments: [PostgresProxy.Cut.afterCommit, .beforeCommit])
    func settlesLostCommit(cut: PostgresProxy.Cut) async throws {
        let world = try await PostgresWorld()
        let proxy = try PostgresProxy(to: world.server.folder)
        defer { proxy.close() }
        let journal = try PostgresJournal(world.server.address(of: world.database, socket: proxy.folder))
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        for number in 1...5 {
            proxy.cut(cut)
            // A second writing of the same event would be refused: it is not the next one.
            try await journal.commit([.event(job.event(number))], under: lease)
        }
        #expect(proxy.cuts == 5)
        #expect(try await journal.events(of: job.record.id, after: 0).count == 5)
        await journal.close()
    }

    /// The calls of the first group were refused, and told of its commit once more after that, which ended the process;
    /// those of the next group were told of that commit too, and never written.
    @Test("settles a lost commit before all else, also at a server that refuses to write for a moment")
    func settlesAtReadOnlyServer() async throws {
        let world = try await PostgresWorld()
        let proxy = try PostgresProxy(to: world.server.folder)
        defer { proxy.close() }
        let states = AsyncStream<Bool>.makeStream()
        var options = PostgresJournal.Options()
        options.patience = .seconds(60)
        options.observe = { states.continuation.yield($0 == nil) }
        let journal = try PostgresJournal(
            world.server.address(of: world.database, socket: proxy.folder), options: options)
        let (job, other) = (JobSnapshot.example(1), JobSnapshot.example(2))
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        // Of sessions that begin from here on, as at a standby that others already connect to.
        try await world.server.query(
            "ALTER DATABASE \(world.database) SET default_transaction_read_only = on", in: "postgres")
        var connections = proxy.connections().makeAsyncIterator()
        proxy.cut(.afterCommit)
        async let first: Void = journal.commit([.event(job.event(1))], under: lease)
        var waits = states.stream.makeAsyncIterator()
        #expect(await waits.next() == false)
        async let second = journal.create(other, events: [other.event(1)], owner: journal.owner)
        // The second one comes once the first was refused.
        for _ in 1...2 { _ = await connections.next() }
        try await world.server.query(
            "ALTER DATABASE \(world.database) RESET default_transaction_read_only", in: "postgres")
        try await first
        _ = try await second
        #expect(await waits.next() == true)
        // A second writing of the same event would have been refused: it is not the next one.
        #expect(try await journal.events(of: job.record.id, after: 0).count == 1)
        #expect(try await journal.events(of: other.record.id, after: 0).count == 1)
        try await journal.commit([.event(job.event(2))], under: lease)
        await journal.close()
    }

    @Test("goes on after a cut at any message of the server", arguments: 0..<12)
    func survivesCuts(chunks: Int) async throws {
        let world = try await PostgresWorld()
        let proxy = try PostgresProxy(to: world.server.folder)
        defer { proxy.close() }
        let journal = try PostgresJournal(world.server.address(of: world.database, socket: proxy.folder))
        proxy.cut(.afterChunks(chunks))
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [job.event(1)], owner: journal.owner)
        for number in 2...4 { try await journal.commit([.event(job.event(number))], under: lease) }
        #expect(try await journal.events(of: job.record.id, after: 0).map(\.sequence) == [1, 2, 3, 4])
        #expect(proxy.cuts == 1)
        await journal.close()
    }

    @Test("waits for a server that is stopped and started again")
    func waitsForServer() async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        _ = try PostgresJournal.migrate(server.address(of: database))
        let states = AsyncStream<Bool>.makeStream()
        var options = PostgresJournal.Options()
        options.patience = .seconds(60)
        options.observe = { states.continuation.yield($0 == nil) }
        let opened = try PostgresJournal(server.address(of: database), options: options)
        let job = JobSnapshot.example(1)
        let lease = try await opened.create(job, events: [], owner: opened.owner)
        await server.stop()
        async let committed: Void = opened.commit([.event(job.event(1))], under: lease)
        var waits = states.stream.makeAsyncIterator()
        #expect(await waits.next() == false)
        try await server.start()
        try await committed
        #expect(await waits.next() == true)
        #expect(try await opened.events(of: job.record.id, after: 0).count == 1)
        await opened.close()
        await server.remove()
    }

    /// A lock of an operator, a pooler that pauses and a frozen server held commands up for good, and nothing said why.
    @Test(
        "waits for a server that takes connections and does not answer no longer than for one that is away",
        arguments: [true, false])
    func silentServer(isWriting: Bool) async throws {
        let world = try await PostgresWorld()
        let states = AsyncStream<JournalFailure?>.makeStream()
        var options = PostgresJournal.Options()
        options.patience = .seconds(3)
        options.observe = { states.continuation.yield($0) }
        let journal = try PostgresJournal(world.server.address(of: world.database), options: options)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        let operating = try PostgresConnection(
            PostgresAddress(world.server.address(of: world.database)), name: "test")
        try operating.execute("BEGIN")
        try operating.execute("LOCK TABLE \(PostgresSchema.name).jobs, \(PostgresSchema.name).events")
        let failure = await #expect(throws: JournalFailure.self) {
            if isWriting {
                try await journal.commit([.event(job.event(1))], under: lease)
            } else {
                _ = try await journal.jobs(JobQuery())
            }
        }
        guard case .away(_, let reason)? = failure else {
            Issue.record("\(failure as Any)")
            return
        }
        #expect(reason.contains("does not answer"))
        var told = states.stream.makeAsyncIterator()
        #expect(await told.next() == .some(failure))
        try operating.execute("COMMIT")
        try await journal.commit([.event(job.event(1))], under: lease)
        #expect(try await journal.events(of: job.record.id, after: 0).count == 1)
        #expect(await told.next() == .some(nil))
        await journal.close()
    }

    /// A worker stood still for as long as the server that it was connected to did, though its successor answered.
    @Test("leaves a connection on which a worker gets no answer, and writes by another what it had to")
    func silentConnection() async throws {
        let world = try await PostgresWorld()
        let states = AsyncStream<JournalFailure?>.makeStream()
        var options = PostgresJournal.Options()
        options.patience = .seconds(2)
        options.observe = { states.continuation.yield($0) }
        let journal = try PostgresJournal(world.server.address(of: world.database), options: options)
        try await journal.becomeWorker(atOnce: 1)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: journal.owner)
        let looking = try PostgresConnection(
            PostgresAddress(world.server.address(of: world.database)), name: "test")
        var writer: pid_t?
        try looking.readRows(
            of: "SELECT pid FROM pg_stat_activity WHERE application_name = :name AND datname = :database",
            ["name": "pipeline writer", "database": world.database]
        ) { row in
            writer = pid_t(row.integer("pid"))
            return false
        }
        let frozen = try #require(writer)
        kill(frozen, SIGSTOP)
        defer { kill(frozen, SIGCONT) }
        try await journal.commit([.event(job.event(1))], under: lease)
        var told = states.stream.makeAsyncIterator()
        #expect(await told.next() != .some(nil))
        #expect(await told.next() == .some(nil))
        #expect(try await journal.events(of: job.record.id, after: 0).count == 1)
        await journal.close()
    }

    @Test(
        "works through a pooler, and knows when that swallows messages",
        .enabled(if: PgBouncer.isAvailable, Comment(rawValue: PgBouncer.howTo)), arguments: ["session", "transaction"])
    func worksThroughPooler(mode: String) async throws {
        let world = try await PostgresWorld()
        let pooler = try await PgBouncer(to: world.server, mode: mode)
        let address = world.server.address(of: world.database, socket: pooler.folder)
        var options = PostgresJournal.Options()
        options.lookInterval = .milliseconds(200)
        let (one, other) = (try PostgresJournal(address, options: options), try PostgresJournal(address))
        let job = JobSnapshot.example(1)
        let lease = try await one.create(job, events: [job.event(1)], owner: one.owner)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 2...20 {
                group.addTask { _ = try await other.create(.example(number), events: [], owner: other.owner) }
            }
            try await group.waitForAll()
        }
        try await one.commit([.event(job.event(2)), job.next(.upload, .running(AttemptState()))], under: lease)
        #expect(try await other.jobs(JobQuery()).count == 20)
        // Told or found by a look at the rows.
        var requests = one.requests(for: one.owner).makeAsyncIterator()
        #expect(try await other.post(.cancel, to: job.record.id))
        #expect(await requests.next() == job.record.id)
        #expect(one.isHearing == (mode == "session"))
        for journal in [one, other] { await journal.close() }
        await pooler.remove()
    }

    /// A worker that came back from a sleep took the checks behind its lease's for a mistake of its own.
    @Test("checks nothing behind a statement that was found wanting, and keeps what it has prepared")
    func drains() async throws {
        let world = try await PostgresWorld()
        let connection = try PostgresConnection(
            PostgresAddress(world.server.address(of: world.database)), name: "test")
        var isChecked = false
        try connection.send(text: "SELECT 1") { _ in JournalFailure.stale }
        try connection.send(text: "SELECT 2") { _ in
            isChecked = true
            return nil
        }
        #expect(throws: JournalFailure.stale) { try connection.drain() }
        #expect(!isChecked)
        for _ in 0..<3 {
            try connection.send("SELECT 3 AS three", [])
            try connection.drain()
            try connection.send(text: "SELECT 1 / 0")
            #expect(throws: PostgresError.self) { try connection.drain() }
        }
        let kept = try connection.query("SELECT count(*) AS count FROM pg_prepared_statements").row(0)
        #expect(kept.integer("count") == 1)
    }

    /// One that was stopped in the midst of a transaction held all others up for as long as it stayed away.
    @Test(
        "lets no transaction stand idle for long behind a pooler",
        .enabled(if: PgBouncer.isAvailable, Comment(rawValue: PgBouncer.howTo)))
    func idleBehindPooler() async throws {
        let world = try await PostgresWorld()
        let pooler = try await PgBouncer(to: world.server, mode: "transaction")
        let address = world.server.address(of: world.database, socket: pooler.folder)
        let connection = try PostgresConnection(PostgresAddress(address), name: "test")
        try connection.enter(schema: PostgresSchema.name)
        #expect(connection.isPooled)
        var limit: String?
        try connection.begin()
        try connection.readRows(of: "SELECT current_setting('idle_in_transaction_session_timeout') AS value", [:]) {
            row in
            limit = row.text("value")
            return false
        }
        connection.rollBack()
        #expect(limit == "20s")
        await pooler.remove()
    }

    // MARK: Refusals

    @Test(
        "says where, what, and what to do",
        arguments: [
            ("options=-cdefault_transaction_read_only%3Don", "read-only"),
            ("options=-cstatement_timeout%3D1", "statement"),
        ])
    func explains(option: String, words: String) async throws {
        let world = try await PostgresWorld()
        try await world.server.query(
            "CREATE FUNCTION pipeline.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NEW; END'; "
                + "CREATE TRIGGER slow BEFORE INSERT ON pipeline.jobs FOR EACH ROW EXECUTE FUNCTION pipeline.slow()",
            in: world.database)
        let failure = await #expect(throws: JournalFailure.self) {
            let journal = try PostgresJournal(world.address + "&" + option)
            _ = try await journal.create(.example(1), events: [], owner: journal.owner)
        }
        #expect("\(failure as Any)".contains(words), "\(failure as Any)")
    }

    @Test("of a database that is not there, or a user without rights, is refused with what to do")
    func refusesStrangers() async throws {
        let world = try await PostgresWorld()
        let missing = #expect(throws: JournalFailure.self) {
            _ = try PostgresJournal(world.server.address(of: "nowhere"))
        }
        #expect("\(missing as Any)".contains("does not exist"))
        try await world.server.query("CREATE ROLE stranger\(world.database) LOGIN", in: world.database)
        let address = world.server.address(of: world.database, user: "stranger\(world.database)")
        let refused = #expect(throws: JournalFailure.self) { _ = try PostgresJournal(address) }
        guard case .refused(_, let reason, let hint) = refused else {
            Issue.record("\(refused as Any)")
            return
        }
        #expect(reason.contains("permission denied") && hint.contains("grant"))
    }
}
