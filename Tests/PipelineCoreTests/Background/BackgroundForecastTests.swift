import JSONPath
import PipelineCore
import Testing

/// What `plan --background` foretells.
@Suite struct BackgroundForecastTests {
    /// Kinds that leave their work to the outside as the real ones do.
    private static func kind(_ name: String, _ work: @escaping @Sendable (ObjectReader) -> BackgroundWork) -> StageKind
    {
        let submit = Field("submit", FieldType<JSONTemplate>.json(), "A request.")
        let callback = Field("callback", FieldType<JSONTemplate>.json(), "A push.")
        let from = Field("from", FieldType<JSONTemplate>.json(), "A link.")
        return StageKind(name: name, summary: name, fields: [submit, callback, from]) { reading in
            reading.declare([CaptureDeclaration(name: "url")])
            _ = reading.reader.optional(from)
            _ = reading.reader.optional(submit)
            _ = reading.reader.optional(callback)
            return AnyStage(
                IdleStage(), coding: CheckpointCoding(encode: { _ in [] }, decode: { _ in 0 }),
                work: work(reading.reader))
        }
    }

    private static let kinds = [
        kind("upload") { _ in .transfer }, kind("download") { _ in .transfer },
        kind("compute") { .remoteJob(submits: true, isPushed: $0.has("callback")) },
    ]

    private static func forecast(
        compute: String, download: String = "", budget: ResumeBudgetDefinition? = .ios,
        samples: [String: [StageSample]] = [:]
    ) throws -> BackgroundForecast {
        let text = """
            { "pipeline": 1, "name": "selfie", "stages": [
              { "id": "upload", "kind": "upload" },
              { "id": "model", "kind": "compute", "estimate": "60s", \(compute) },
              { "id": "download", "kind": "download" \(download) } ] }
            """
        let plan = try Planner(catalogue: Catalogue(kinds: kinds, checkDecorators: { _, _ in }))
            .plan(SourceText(name: "selfie.json", text: text))
        return BackgroundForecast(plan, budget: budget, samples: samples, at: .at(0))
    }

    @Test("the selfie flow with a push costs 4 resumes under a phone's budget, and minutes of delay")
    func push() throws {
        let forecast = try Self.forecast(compute: #""submit": {}, "callback": {}"#)
        #expect(forecast.resumes == 4)
        #expect(forecast.stages.map(\.count) == [1, 2, 1])
        #expect(forecast.stages.map(\.delay.seconds) == [60, 240, 0])
        #expect(forecast.delay == .seconds(300))
        #expect(forecast.advice.contains { $0.contains("good moment") })
    }

    @Test("with an authentication challenge on its submit it costs 5, and a transfer token would save one")
    func challenge() throws {
        let submit =
            #""submit": { "with": [ { "oauth2": { "tokenURL": "https://example.com/token" } } ] }, "callback": {}"#
        let forecast = try Self.forecast(compute: submit)
        #expect(forecast.resumes == 5)
        #expect(forecast.stages[1].resumes.first?.reason == .authentication)
        #expect(forecast.advice.contains { $0.contains("transfer token instead of a challenge saves 1 resume") })
        #expect(forecast.delay > .seconds(300))
    }

    @Test("a delay that would outlast what a later stage reads is foretold no longer than that")
    func expiring() throws {
        let compute = #""submit": {}, "callback": {}, "expires": { "in": "2m" }"#
        let read = try Self.forecast(compute: compute, download: #", "from": "${{ stages.model.url }}""#)
        #expect(read.stages.map { $0.delay.seconds.rounded() } == [60, 60, 0])
        let unread = try Self.forecast(compute: compute)
        #expect(unread.stages.map(\.delay.seconds) == [60, 240, 0])
    }

    @Test("without a push the polls are counted, and a push would save all but one")
    func polls() throws {
        let guessed = try Self.forecast(compute: #""submit": {}"#)
        let polls = guessed.stages[1].resumes.first { $0.reason == .poll }?.count ?? 0
        #expect((2...8).contains(polls))
        #expect(guessed.advice.contains { $0.contains("a push") })
        let past = (0..<5).map { _ in
            StageSample(pipeline: "selfie", stage: "model", ended: .at(0), seconds: 60, polls: 3)
        }
        let known = try Self.forecast(compute: #""submit": {}"#, samples: ["model": past])
        #expect(known.stages[1].resumes.map(\.reason) == [.submitAnswered, .poll])
        #expect(known.stages[1].count == 4)
    }

    @Test("within the usual budget nothing is delayed")
    func usual() throws {
        let forecast = try Self.forecast(compute: #""submit": {}, "callback": {}"#, budget: nil)
        #expect(forecast.delay == .zero)
        #expect(forecast.stages.allSatisfy { !$0.isDiscretionary })
    }
}

private struct IdleStage: Stage {
    func resume(from checkpoint: Int?, in context: StageContext<Int>) async throws(StageFailure) -> StageOutcome<Int> {
        .finished([:])
    }
}
