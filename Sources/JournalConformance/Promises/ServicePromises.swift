import JSONPath
import PipelineCore

/// The trials of what all processes on one journal know of services: closed ones, one trial, places for remote jobs.
enum ServicePromises {
    private static let owner = OwnerID("owner-a")
    private static let id = ServiceID("a")

    private typealias ServiceRows = Journal & ServiceJournal

    private static func withJournals(
        _ world: any JournalWorld, _ check: ConformanceCheck,
        _ body: (any ServiceRows, any ServiceRows) async throws -> Void
    ) async throws {
        let first = try check.require(try world.open() as? any ServiceRows)
        try await body(first, try check.require(try world.open() as? any ServiceRows))
    }

    static func trial(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withJournals(world, check) { first, second in
            let closed = ClosedService(id: id, name: "api", since: .at(1), until: .at(61), closings: 2)
            try await first.closeService(closed)
            check.expect(try await second.closedServices() == [closed])
            check.expect(try await !second.beginTrial(of: id, at: .at(60), until: .at(90)))
            check.expect(try await second.beginTrial(of: id, at: .at(61), until: .at(91)))
            check.expect(try await !first.beginTrial(of: id, at: .at(62), until: .at(92)))
            check.expect(try await !first.beginTrial(of: id, at: .at(60), until: .at(90)), "asked a moment earlier")
            check.expect(try await first.beginTrial(of: id, at: .at(91), until: .at(121)))
            let again = ClosedService(id: id, name: "api", since: .at(95), until: .at(200), closings: 3)
            try await first.closeService(again)
            check.expect(try await !second.beginTrial(of: id, at: .at(94), until: .at(124)), "asked before it closed")
            try await first.openService(id)
            check.expect(try await second.closedServices().isEmpty)
            check.expect(try await !second.beginTrial(of: id, at: .at(200), until: .at(230)))
        }
    }

    static func places(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withJournals(world, check) { first, second in
            let jobs = (1...3).map { JobSnapshot.example($0) }
            var leases: [Lease] = []
            for job in jobs { leases.append(try await first.create(job, events: [], owner: owner)) }
            let step = try check.require(jobs[0].steps.keys.filter { $0.item == nil }.min())
            func claim(_ journal: any ServiceRows, _ number: Int) async throws -> Bool {
                try await journal.claimComputation(at: id, for: step, of: jobs[number].record.id, limit: 2)
            }
            check.expect(try await claim(first, 0))
            check.expect(try await claim(second, 1))
            check.expect(try await claim(first, 0), "it has one")
            check.expect(try await !claim(second, 2))
            var record = try check.require(jobs[0].steps[step])
            record.state = .waiting(AttemptState(), .at(.at(9)), WaitReason(.poll))
            record.version += 1
            try await first.commit([.step(step, record), .released(.interrupted)], under: leases[0])
            check.expect(try await !claim(second, 2), "the remote job of one that is suspended may run")
            let lease = try await first.acquire(jobs[0].record.id, for: owner)
            record.state = .succeeded([:])
            record.version += 1
            try await first.commit([.step(step, record)], under: lease)
            check.expect(try await claim(second, 2))
            try await first.commit([.ended(.at(10))], under: lease)
            check.expect(try await !claim(first, 0))
            var submit = SubmitRecord(key: "k", generation: 1, digest: "d", phase: .sending)
            try await second.commit([.submit(step, submit)], under: leases[2])
            check.expect(try await !claim(first, 0), "it may be there")
            submit.phase = .intent
            try await second.commit([.submit(step, submit)], under: leases[2])
            check.expect(try await claim(first, 0), "the other did not arrive")
            check.expect(try await !claim(second, 2), "the other waits for its turn")
        }
    }

    /// A batch of four items, all of which have begun.
    private struct BegunBatch {
        let journal: any Journal & BatchJournal
        let services: any ServiceRows
        let lease: Lease
        let items: [(item: ItemRecord, lease: Lease)]

        func claim(_ number: Int) async throws -> Bool {
            try await services.claimComputation(
                at: id, for: StepKey(stage: "model"), of: items[number].lease.job, limit: 100)
        }

        func mayOrder(_ number: Int) async throws -> Bool { try await services.mayOrder(items[number].lease.job) }

        func end(_ number: Int, with change: (inout ItemRecord) -> Void) async throws {
            var item = items[number].item
            change(&item)
            try await journal.finish(item, under: items[number].lease)
        }
    }

    private static func withBegunBatch(
        _ world: any JournalWorld, _ check: ConformanceCheck, _ settings: BatchSettings,
        _ body: (BegunBatch) async throws -> Void
    ) async throws {
        try await BatchPromises.withBatch(world, check, settings) { journal, lease in
            let services = try check.require(journal as? any ServiceRows)
            _ = try await BatchPromises.add(BatchPromises.rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let items = try await journal.beginItems(4, of: lease)
            try await body(BegunBatch(journal: journal, services: services, lease: lease, items: items))
        }
    }

    static func restraint(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBegunBatch(world, check, BatchSettings(stopAfter: 2)) { batch in
            func fail(_ number: Int) async throws {
                try await batch.end(number) { item in
                    (item.state, item.ended) = (.failed, .at(9))
                    item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
                }
            }
            try await fail(0)
            check.expect(try await batch.claim(2), "one has failed")
            try await fail(1)
            check.expect(try await !batch.claim(3), "the second failed as the first did")
            check.expect(try await !batch.mayOrder(3))
            check.expect(try await batch.services.mayOrder(batch.lease.job), "it is no item of another batch")
            check.expect(try await batch.claim(2), "it has its place")
            try await batch.journal.stop(.sameFailure, batch.lease)
            check.expect(try await !batch.claim(3))
            try await batch.journal.stop(nil, batch.lease)
            check.expect(try await batch.claim(3), "a person had it go on")
            check.expect(try await batch.mayOrder(3))
        }
    }

    static func affordable(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await withBegunBatch(world, check, BatchSettings(spend: 5)) { batch in
            func succeed(_ number: Int) async throws {
                try await batch.end(number) { ($0.state, $0.ended, $0.cost) = (.succeeded, .at(9), 2) }
            }
            try await succeed(0)
            check.expect(try await batch.claim(1), "3 of 5 are left, and one costs 2")
            check.expect(try await !batch.claim(2), "another would cost more than what is left")
            check.expect(try await batch.claim(1), "it has its place")
            try await batch.end(1) { $0.state = .unknown }
            check.expect(
                try await batch.claim(2), "nobody knows whether the other costs anything, and it is not at work")
            try await succeed(2)
            check.expect(try await !batch.claim(3), "1 of 5 is left")
        }
    }
}
