import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineJournal

/// What processes on one database share of a service, by rows.
@Suite(
    "What processes share of a service",
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct PostgresShareTests {
    private let service = ServiceID("s")

    @Test("parts of a rate never make more than the whole, become equal, and those of a dead process are taken")
    func rate() async throws {
        let world = try await PostgresWorld()
        let (one, two) = (try world.openPostgres(), try world.openPostgres())
        #expect(try await one.claimRate(of: service)?.part == 1)
        #expect(try await two.claimRate(of: service)?.part == 0)
        #expect(try await one.claimRate(of: service)?.part == 0.5)
        #expect(try await two.claimRate(of: service)?.part == 0.5)
        #expect(try await two.claimRate(of: ServiceID("other"))?.part == 1)
        try await world.server.query(
            "UPDATE pipeline.rate_shares SET until = now() WHERE worker = '\(one.owner.text)'", in: world.database)
        #expect(try await two.claimRate(of: service)?.part == 1)
        for journal in [one, two] { await journal.close() }
    }

    private func entry(_ text: String) -> ListEntry { ListEntry(url: "http://x/\(text)", body: Array(text.utf8)) }
    private let now = ListPlan(earliest: .zero, due: .zero)

    @Test("one asks for what is due of both, and the other takes what it has learned")
    func list() async throws {
        let world = try await PostgresWorld()
        let (one, two) = (try world.openPostgres(), try world.openPostgres())
        _ = try await one.planList("l", id: "a", now)
        for id in ["b", "c"] { _ = try await two.planList("l", id: id, now) }
        _ = try await two.planList("l", id: "later", ListPlan(earliest: .seconds(50), due: .seconds(60)))
        let turn = try await one.beginList("l", ids: ["a"], atMost: 10)
        #expect(turn?.ask.first == "a" && Set(turn?.ask ?? []) == ["a", "b", "c"])
        #expect(try await two.beginList("l", ids: ["b"], atMost: 10) == ListTurn(ask: [], pending: ["b"]))
        // The response does not name 'c': that is known too.
        try await one.endList("l", asked: ["a", "b", "c"], entries: ["a": entry("a"), "b": entry("b")])
        let known = try await two.beginList("l", ids: ["b", "c"], atMost: 10)
        #expect(known == ListTurn(ask: [], known: ["b": entry("b"), "c": nil]))
        // What was taken is asked for again the next time.
        #expect(try await two.beginList("l", ids: ["b"], atMost: 1) == ListTurn(ask: ["b"]))
        for journal in [one, two] { await journal.close() }
    }

    @Test("what a dead process was asking for is asked for by the next")
    func deadAsker() async throws {
        let world = try await PostgresWorld()
        let (one, two) = (try world.openPostgres(), try world.openPostgres())
        _ = try await two.planList("l", id: "b", now)
        #expect(try await one.beginList("l", ids: ["a"], atMost: 10)?.ask == ["a", "b"])
        try await world.server.query("UPDATE pipeline.list_polls SET asking_until = now()", in: world.database)
        #expect(try await two.beginList("l", ids: ["b"], atMost: 1)?.ask == ["b"])
        // What the first learns too late changes nothing.
        try await one.endList("l", asked: ["b"], entries: ["b": entry("b")])
        #expect(try await two.beginList("l", ids: ["b"], atMost: 1)?.ask == ["b"])
        for journal in [one, two] { await journal.close() }
    }

    @Test("a job asks at the time of another process's, if its own plan allows that")
    func align() async throws {
        let world = try await PostgresWorld()
        let (one, two) = (try world.openPostgres(), try world.openPostgres())
        _ = try await one.planList("l", id: "a", ListPlan(earliest: .seconds(500), due: .seconds(500)))
        let moved = try #require(
            try await two.planList("l", id: "b", ListPlan(earliest: .seconds(100), due: .seconds(1000))))
        #expect(moved <= .seconds(500) && moved > .seconds(100))
        let own = try #require(
            try await two.planList("l", id: "c", ListPlan(earliest: .seconds(900), due: .seconds(1000))))
        #expect(own <= .seconds(1000) && own > .seconds(900))
        for journal in [one, two] { await journal.close() }
    }
}
