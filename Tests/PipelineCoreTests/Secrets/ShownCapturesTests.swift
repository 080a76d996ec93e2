import JSONPath
import PipelineCore
import Testing

@Suite("Captures as they are shown")
struct ShownCapturesTests {
    private static let document = """
        { "pipeline": 1, "name": "demo", "services": { "api": { "url": "https://api.example.com" } },
          "batch": { "results": {
            "link": "${{ stages.sign.link }}", "token": "${{ stages.sign.token }}", "id": "${{ stages.use.id }}" } },
          "stages": [
            { "id": "sign", "kind": "request", "service": "api",
              "request": { "GET": "/sign", "capture": { "link": "$.link",
                "token": { "select": "$.token", "secret": true } } } },
            { "id": "use", "kind": "request", "service": "api",
              "request": { "GET": "/use", "headers": { "X-T": "${{ stages.sign.token }}" },
                           "capture": { "id": "$.id", "echo": "$.echo" } } } ] }
        """
    private static let sign: JSONObject = ["link": "https://h/f?t=s3cr%65t-77&page=2", "token": "s3cret-77"]
    private static let use: JSONObject = ["id": "s3", "echo": ["seen": ["s3cret-77", "other"]]]

    private func job() -> JobSnapshot {
        let steps = [
            StepKey(stage: "sign"): Self.step(Self.sign), StepKey(stage: "use"): Self.step(Self.use),
        ]
        return JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
    }

    private static func step(_ captures: JSONObject) -> StepRecord {
        var step = StepRecord(state: .succeeded(captures))
        step.captures = captures
        return step
    }

    private func plan() throws -> Plan {
        try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "a.json", text: Self.document))
    }

    @Test("the value of a secret one is hidden wherever it stands, however it is written")
    func hidden() throws {
        let job = job()
        let shown = ShownCaptures(of: job.steps, plan: try plan())
        let sign = StepKey(stage: "sign")
        #expect(
            shown.captures(of: sign, try #require(job.steps[sign]))
                == ["link": "https://h/f?t=‹secret:sign.token›&page=2", "token": "‹secret›"])
        let use = StepKey(stage: "use")
        #expect(
            shown.captures(of: use, try #require(job.steps[use]))
                == ["id": "s3", "echo": ["seen": ["‹secret:sign.token›", "other"]]])
    }

    @Test("without a plan none is shown")
    func unplanned() throws {
        let job = job()
        let use = StepKey(stage: "use")
        let shown = ShownCaptures(of: job.steps, plan: nil).captures(of: use, try #require(job.steps[use]))
        #expect(shown == ["id": "‹secret›", "echo": "‹secret›"])
    }

    @Test("the results of a batch's item have no secret one either")
    func results() throws {
        let results = ItemOutcome(endOf: job(), in: try plan(), at: Samples.now).results
        let link: JSON = "https://h/f?t=‹secret:sign.token›&page=2"
        #expect(results == ["link": link, "token": "‹secret:sign.token›", "id": "s3"])
    }
}
