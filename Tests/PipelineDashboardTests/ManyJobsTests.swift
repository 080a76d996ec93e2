import Foundation
import JSONPath
import PipelineCore
import Testing

@testable import PipelineDashboard

/// The pages over a hundred thousand jobs. How long they take is printed, and held by nobody: machines differ.
@Suite("A hundred thousand jobs", .serialized, .timeLimit(.minutes(5)))
struct ManyJobsTests {
    @Test("each is found by its filter, page by page, from the newest to the oldest")
    func pages() async throws {
        let world = try await DashboardWorld()
        for number in 0..<16 { try await world.make(number, model: .succeeded([:]), kind: .jobSucceeded) }
        let failed = StepState.failed(StepFailure("no credit"))
        for number in 16..<19 { try await world.make(number, model: failed, kind: .jobFailed) }
        let job = try await world.make(20)
        try ManyJobs.copy(100_000, in: world)
        let cookie = try await world.signIn()
        let counts = try await world.journal.counts(JobPageQuery())
        #expect(counts[.succeeded] == 80_016 && counts[.failed] == 15_003)
        #expect(counts[.suspended] == 5_000 && counts[.running] == 1)
        for target in [
            "/", "/?state=failed", "/?state=suspended", "/?state=running", "/?q=many-77", "/?q=credit",
            "/?before=01h0050000", "/jobs/\(job)", "/pipelines", "/services", "/workers",
        ] {
            _ = try await world.get(target, cookie: cookie)
            let clock = ContinuousClock()
            var (times, spent): ([Duration], [Int]) = ([], [])
            for _ in 0..<5 {
                let (start, cpu) = (clock.now, processorTime())
                let answer = try await world.get(target, cookie: cookie)
                times.append(clock.now - start)
                spent.append(processorTime() - cpu)
                #expect(answer.status == 200, "\(target)")
            }
            print("figure \(target): \(times.sorted()[2]), processor \(spent.sorted()[2]) µs")
        }
        let middle = try await world.get("/?before=01h0050000", cookie: cookie)
        #expect(middle.shows(">many-49999<") && middle.shows("before=01h0049950"))
        let oldest = try await world.get("/?before=01h0000003", cookie: cookie)
        #expect(oldest.body.components(separatedBy: "<tr id=").count == 3 && !oldest.shows("rel=\"next\""))
        await world.close()
    }
}

/// Returns what this process has used of processors, in microseconds; its browser's side included.
private func processorTime() -> Int { Int(clock()) }
