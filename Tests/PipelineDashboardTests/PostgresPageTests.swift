import Foundation
import PipelineCore
import PipelineJournal
import PipelineKit
import PipelineMetrics
import PipelineTestKit
import Testing

@testable import PipelineDashboard

/// The same jobs in a state folder and in a database that machines share look the same.
@Suite(
    "Pages over PostgreSQL", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct PostgresPageTests {
    private static func address() async throws -> String {
        let server = try await PostgresServer.shared()
        let address = server.address(of: try await server.makeDatabase())
        _ = try PostgresJournal.migrate(address)
        return address
    }

    /// What tells the two worlds apart and is not to be compared.
    private func comparable(_ page: RawResponse, _ world: DashboardWorld) -> String {
        page.body.replacing(world.folder, with: "FOLDER").replacing(world.host, with: "HOST")
            .replacing(#/data-changes="[^"]*"/#, with: "")
            // Estimates rest on samples, and of those that ended in the same moment on ids that are random.
            .replacing(#/end within this time">[^<]*/#, with: "")
            // Drawn to the millisecond of the moment.
            .replacing(#/(?s)<svg class="picture".*?<\/svg>/#, with: "")
    }

    @Test("all pages show what they show over a state folder")
    func samePages() async throws {
        let now = SystemClock().now
        let here = try await DashboardWorld()
        let there = try await DashboardWorld(journal: try await Self.address())
        let (made, same) = (try await SampleJobs(here, now: now).make(), try await SampleJobs(there, now: now).make())
        #expect(made.batch == same.batch)
        let (cookie, other) = (try await here.signIn(), try await there.signIn())
        let targets = [
            "/", "/?state=failed", "/?q=CREDIT", "/?pipeline=selfie", "/?batch=\(made.batch)", "/?since=1d",
            "/?state=waiting", "/?state=suspended", "/?state=unknown", "/jobs/\(made.waiting)", "/jobs/\(made.failed)",
            "/jobs/\(made.succeeded)", "/batches/\(made.batch)", "/batches/\(made.batch)/results.csv", "/services",
            "/pipelines", "/workers",
        ]
        for target in targets {
            var pages = ("", " ")
            // Ages go by the second: both are read within one, sooner or later.
            for _ in 0..<50 where pages.0 != pages.1 {
                pages.0 = comparable(try await here.get(target, cookie: cookie), here)
                pages.1 = comparable(try await there.get(target, cookie: other), there)
            }
            let lines = zip(pages.0.split(separator: "\n"), pages.1.split(separator: "\n")).filter { $0 != $1 }
            #expect(pages.0 == pages.1, "\(target): \(lines.prefix(3))")
            #expect(pages.0.count > 200, "\(target)")
        }
        let texts = (try await metrics(here), try await metrics(there))
        #expect(texts.0 == texts.1 && texts.0.contains { $0.hasPrefix("pipeline_batch_items{") }, "\(texts)")
        for world in [here, there] { await world.close() }
    }

    /// The lines that tell of jobs, and not of this process or of commits.
    private func metrics(_ world: DashboardWorld) async throws -> [Substring] {
        let page = MetricsPage(settings: world.workspace.settings, journal: world.journal)
        return try await page.text(.prometheus).split(separator: "\n").filter {
            $0.hasPrefix("pipeline_") && !$0.hasPrefix("pipeline_journal") && !$0.hasPrefix("pipeline_next_expiry")
        }
    }

    @Test("a change is on the stream by the number of the journal's sequence, and none is missed")
    func liveChanges() async throws {
        let world = try await DashboardWorld(journal: try await Self.address())
        let start = try await world.journal.lastChange()
        var made: [JobID] = []
        for number in 1...30 { made.append(try await world.make(number)) }
        let streams = ChangeStreams(journal: world.journal)
        var told: Set<JobID> = []
        for try await bytes in try #require(streams.stream(after: start, of: nil)) {
            let text = String(decoding: bytes, as: UTF8.self)
            for job in made where text.contains(job.text) { told.insert(job) }
            if told.count == made.count { break }
        }
        #expect(told == Set(made))
        await world.close()
    }
}
