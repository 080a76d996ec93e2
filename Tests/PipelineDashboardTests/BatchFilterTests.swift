import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineDashboard

/// Which jobs the list shows for a batch.
@Suite("The list of a batch's items")
struct BatchFilterTests {
    @Test("is found by the batch's key as by its job's id")
    func byKey() async throws {
        let world = try await DashboardWorld()
        do {
            _ = try await SampleJobs(world).make()
            let cookie = try await world.signIn()
            let answer = try await world.get("/?batch=june-recordings", cookie: cookie)
            #expect(answer.status == 200 && answer.shows("clip-"), "\(answer.body.prefix(3000))")
            #expect(!answer.shows("demo-day"), "only its items")
        } catch {
            await world.close()
            throw error
        }
        await world.close()
    }
}
