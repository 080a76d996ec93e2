import JSONPath
import PipelineCore
import Testing

@testable import PipelineJournal

/// What all processes on one journal know of services: closed ones, one trial, places for remote jobs.
@Suite("A service's rows")
struct ServiceRowTests {
    private let owner = OwnerID("owner-a")
    private let id = ServiceID("a")

    private func withJournals(_ body: (SQLiteJournal, SQLiteJournal) async throws -> Void) async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let (first, second) = (try world.openSQLite(), try world.openSQLite())
        try await body(first, second)
        await first.close()
        await second.close()
    }

    @Test("one of two processes gets the trial, and the next when its time is over or the service closed again")
    func trial() async throws {
        try await withJournals { first, second in
            let closed = ClosedService(id: id, name: "api", since: .at(1), until: .at(61), closings: 2)
            try await first.closeService(closed)
            #expect(try await second.closedServices() == [closed])
            #expect(try await !second.beginTrial(of: id, at: .at(60), until: .at(90)))
            #expect(try await second.beginTrial(of: id, at: .at(61), until: .at(91)))
            #expect(try await !first.beginTrial(of: id, at: .at(62), until: .at(92)))
            #expect(try await first.beginTrial(of: id, at: .at(91), until: .at(121)))
            try await first.openService(id)
            #expect(try await second.closedServices().isEmpty)
            #expect(try await !second.beginTrial(of: id, at: .at(200), until: .at(230)))
        }
    }

    @Test("places are counted over processes, stay over suspensions, and are free in the commit that ends the step")
    func places() async throws {
        try await withJournals { first, second in
            let jobs = (1...3).map { JobSnapshot.example($0) }
            var leases: [Lease] = []
            for job in jobs { leases.append(try await first.create(job, events: [], owner: owner)) }
            let step = try #require(jobs[0].steps.keys.filter { $0.item == nil }.min())
            func claim(_ journal: SQLiteJournal, _ number: Int) async throws -> Bool {
                try await journal.claimComputation(at: id, for: step, of: jobs[number].record.id, limit: 2)
            }
            #expect(try await claim(first, 0))
            #expect(try await claim(second, 1))
            #expect(try await claim(first, 0), "it has one")
            #expect(try await !claim(second, 2))
            var record = try #require(jobs[0].steps[step])
            record.state = .waiting(AttemptState(), .at(.at(9)), WaitReason(.poll))
            record.version += 1
            try await first.commit([.step(step, record), .released(.interrupted)], under: leases[0])
            #expect(try await !claim(second, 2), "the remote job of one that is suspended may run")
            let lease = try await first.acquire(jobs[0].record.id, for: owner)
            record.state = .succeeded([:])
            record.version += 1
            try await first.commit([.step(step, record)], under: lease)
            #expect(try await claim(second, 2))
            try await first.commit([.ended(.at(10))], under: lease)
            #expect(try await !claim(first, 0))
        }
    }
}
