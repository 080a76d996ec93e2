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

    static func restraint(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await BatchPromises.withBatch(world, check, BatchSettings(stopAfter: 2)) { journal, lease in
            let services = try check.require(journal as? any ServiceRows)
            _ = try await BatchPromises.add(BatchPromises.rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let begun = try await journal.beginItems(4, of: lease)
            func claim(_ number: Int) async throws -> Bool {
                try await services.claimComputation(
                    at: id, for: StepKey(stage: "model"), of: begun[number].lease.job, limit: 100)
            }
            func fail(_ number: Int) async throws {
                var item = begun[number].item
                (item.state, item.ended) = (.failed, .at(9))
                item.failure = ItemFailure(stage: "model", failure: StepFailure("no credit"))
                try await journal.finish(item, under: begun[number].lease)
            }
            try await fail(0)
            check.expect(try await claim(2), "one has failed")
            try await fail(1)
            check.expect(try await !claim(3), "the second failed as the first did")
            check.expect(try await !services.mayOrder(begun[3].lease.job))
            check.expect(try await services.mayOrder(lease.job), "it is no item of another batch")
            check.expect(try await claim(2), "it has its place")
            try await journal.stop(.sameFailure, lease)
            check.expect(try await !claim(3))
            try await journal.stop(nil, lease)
            check.expect(try await claim(3), "a person had it go on")
            check.expect(try await services.mayOrder(begun[3].lease.job))
        }
    }

    static func affordable(_ world: any JournalWorld, _ check: ConformanceCheck) async throws {
        try await BatchPromises.withBatch(world, check, BatchSettings(spend: 5)) { journal, lease in
            let services = try check.require(journal as? any ServiceRows)
            _ = try await BatchPromises.add(BatchPromises.rows("a", "b", "c", "d"), to: lease, journal, isRead: true)
            let begun = try await journal.beginItems(4, of: lease)
            func claim(_ number: Int) async throws -> Bool {
                try await services.claimComputation(
                    at: id, for: StepKey(stage: "model"), of: begun[number].lease.job, limit: 100)
            }
            func succeed(_ number: Int) async throws {
                var item = begun[number].item
                (item.state, item.ended, item.cost) = (.succeeded, .at(9), 2)
                try await journal.finish(item, under: begun[number].lease)
            }
            try await succeed(0)
            check.expect(try await claim(1), "3 of 5 are left, and one costs 2")
            check.expect(try await !claim(2), "another would cost more than what is left")
            check.expect(try await claim(1), "it has its place")
            var unknown = begun[1].item
            unknown.state = .unknown
            try await journal.finish(unknown, under: begun[1].lease)
            check.expect(try await claim(2), "nobody knows whether the other costs anything, and it is not at work")
            try await succeed(2)
            check.expect(try await !claim(3), "1 of 5 is left")
        }
    }
}
