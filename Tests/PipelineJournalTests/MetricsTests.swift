import Foundation
import JournalConformance
import PipelineCore
import PipelineSQLite
import Testing

@testable import PipelineJournal

@Suite("Metrics in the journal")
struct MetricsTests {
    private let owner = OwnerID("owner-a")

    private static func measured(_ pipelines: Range<Int>) -> Measurements {
        var measured = Measurements()
        for number in pipelines {
            measured.count(.stageAttempts, ["p\(number)", "stage\(number)", "succeeded"])
            measured.observe(.jobDuration, ["p\(number)"], 0.3)
        }
        return measured
    }

    @Test(
        "what commits bring is added up, and is there when the journal is opened again",
        arguments: JournalKind.databases)
    func kept(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        let lease = try await journal.create(.example(1), events: [], owner: owner)
        for _ in 1...3 { try await journal.commit([.measured(Self.measured(0..<2))], under: lease) }
        await journal.close()
        let sums = try await (try #require(try world.open() as? any DatabaseJournal)).measured().sums
        let attempts = Measurements.Series(.stageAttempts, ["p1", "stage1", "succeeded"])
        #expect(sums[attempts] == Measurements.Sum(count: 3, sum: 3))
        let durations = try #require(sums[Measurements.Series(.jobDuration, ["p1"], bucket: 1)])
        #expect(durations.count == 3 && abs(durations.sum - 0.9) < 1e-9)
        #expect(sums[Measurements.Series(.journalCommits, [])]?.sum ?? 0 >= 4)
    }

    @Test(
        "what no promise rests on is written after a second, or at the end, and adds up",
        arguments: JournalKind.databases)
    func lagging(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        let lease = try await journal.create(.example(1), events: [], owner: owner)
        var polled = Measurements()
        polled.count(.polls, ["s", "single"])
        polled.count(.submits, ["s", "accepted"])
        for _ in 1...50 { try await journal.commit([.measured(polled)], under: lease) }
        #expect(try await journal.measured().sums[Measurements.Series(.submits, ["s", "accepted"])]?.sum == 50)
        let polls = Measurements.Series(.polls, ["s", "single"])
        let end = ContinuousClock.now + .seconds(10)
        // Each look takes some time by itself.
        while try await journal.measured().sums[polls]?.sum != 50, ContinuousClock.now < end {}
        #expect(try await journal.measured().sums[polls]?.sum == 50)
        // What is held when a process ends is written then, and what is held of a job with its end.
        try await journal.commit([.measured(polled)], under: lease)
        await journal.close()
        let again = try #require(try world.open() as? any DatabaseJournal)
        #expect(try await again.measured().sums[polls]?.sum == 51)
        let next = try await again.acquire(JobSnapshot.example(1).record.id, for: owner)
        try await again.commit([.measured(polled), .released(.paused)], under: next)
        #expect(try await again.measured().sums[polls]?.sum == 52)
    }

    @Test("a commit that is refused counts nothing", arguments: JournalKind.databases)
    func refused(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        let job = JobSnapshot.example(1)
        let lease = try await journal.create(job, events: [], owner: owner)
        await #expect(throws: JournalFailure.self) {
            try await journal.commit(
                [
                    .measured(Self.measured(0..<1)), .step(.upload, StepRecord(toleratesFailure: true)),
                    .step(.upload, StepRecord(toleratesFailure: true)),
                ], under: lease)
        }
        #expect(try await journal.measured().sums.keys.contains { $0.metric == .jobDuration } == false)
    }

    @Test("past 200 pipelines the rest is 'other', whichever process counts them", arguments: JournalKind.databases)
    func otherPipelines(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        let lease = try await journal.create(.example(1), events: [], owner: owner)
        // One after the other, so that it is known which come first.
        for number in 0..<250 {
            try await journal.commit([.measured(Self.measured(number..<number + 1))], under: lease)
        }
        await journal.close()
        let again = try #require(try world.open() as? any DatabaseJournal)
        let next = try await again.acquire(JobSnapshot.example(1).record.id, for: owner)
        try await again.commit([.measured(Self.measured(0..<1)), .measured(Self.measured(300..<301))], under: next)
        let sums = try await again.measured().sums
        let names = Set(sums.keys.filter { $0.metric == .jobDuration }.map { $0.labels[0] })
        #expect(names.count == 201 && names.contains("p199") && !names.contains("p200") && names.contains("other"))
        #expect(sums[Measurements.Series(.stageAttempts, ["other", "other", "succeeded"])]?.sum == 51)
        #expect(sums[Measurements.Series(.stageAttempts, ["p0", "stage0", "succeeded"])]?.sum == 2)
    }

    @Test("a row that was rolled back is not taken for another that has its number now")
    func rolledBack() async throws {
        let world = try SQLiteWorld()
        defer { world.remove() }
        let journal = try world.openSQLite()
        let folder = StateFolder(world.state)
        let owners = Owners(folder: folder, clock: world.clock, length: 30_000)
        try JournalDatabase(folder).access { (connection) throws(JournalFailure) in
            let rows = JobRows(connection: connection, owners: owners)
            for (pipelines, end) in [(0..<1, "ROLLBACK"), (1..<2, "COMMIT"), (0..<2, "COMMIT"), (0..<2, "COMMIT")] {
                connection.rollBack()
                try rows.run("BEGIN IMMEDIATE")
                try rows.insert(Self.measured(pipelines))
                if end == "COMMIT" { try rows.run("COMMIT") }
            }
        }
        let sums = try await journal.measured().sums
        #expect(sums[Measurements.Series(.stageAttempts, ["p0", "stage0", "succeeded"])]?.sum == 2)
        #expect(sums[Measurements.Series(.stageAttempts, ["p1", "stage1", "succeeded"])]?.sum == 3)
    }

    @Test("jobs that have not ended are counted by the state that a list shows", arguments: JournalKind.databases)
    func gauges(kind: JournalKind) async throws {
        let world = try await kind.makeWorld()
        defer { world.remove() }
        let journal = try #require(try world.open() as? any DatabaseJournal)
        var leases: [Lease] = []
        for number in 1...4 {
            leases.append(try await journal.create(.example(number), events: [], owner: owner))
        }
        let job = JobSnapshot.example(2)
        try await journal.commit([job.next(.upload, .running(AttemptState()))], under: leases[1])
        try await journal.release(leases[2])
        try await journal.commit([.ended(.at(9))], under: leases[3])
        var counts: [String: Double] = [:]
        try await journal.closeService(
            ClosedService(id: ServiceID("one"), name: "renderer", since: .at(5), until: .at(60), closings: 1))
        try await journal.closeService(
            ClosedService(id: ServiceID("two"), name: "studio", since: .at(5), until: .at(9), closings: 1))
        let gauges = try await journal.gauges(at: .at(10))
        #expect(gauges.filter { $0.metric == .serviceClosed }.map(\.labels) == [["renderer"]])
        for gauge in gauges where gauge.metric == .jobs {
            counts[gauge.labels[1], default: 0] += gauge.value
        }
        var shown: [String: Double] = [:]
        for job in try await journal.jobs(JobQuery(isUnfinished: true)) {
            shown[job.phase.rawValue, default: 0] += 1
        }
        #expect(counts == shown && counts == ["waiting": 1, "running": 1, "suspended": 1], "\(counts) \(shown)")
    }
}
