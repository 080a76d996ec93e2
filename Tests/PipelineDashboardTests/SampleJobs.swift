import JSONPath
import PipelineCore
import PipelineKit
import SeededNumbers

/// Jobs as a person might have them: two weeks of one pipeline, a batch in the middle, and one in each state.
struct SampleJobs {
    let world: DashboardWorld
    private let now: Timestamp

    init(_ world: DashboardWorld, now: Timestamp = SystemClock().now) {
        self.world = world
        self.now = now
    }

    struct Made {
        let waiting: JobID
        let failed: JobID
        let succeeded: JobID
        let batch: JobID
    }

    func make() async throws -> Made {
        var random = SplitMix64(seed: 7)
        for number in 0..<48 {
            let took = 45_000 + Int64(random.below(30_000)) + Int64(random.below(12) == 0 ? 90_000 : 0)
            let kind: JobEvent.Kind = random.below(14) == 0 ? .jobFailed : .jobSucceeded
            try await world.make(
                7200 * (48 - number), key: "standup-\(number + 1)", model: model(kind), kind: kind, took: took,
                cost: 0.12, now: now
            )
        }
        for number in 0..<9 {
            try await world.make(
                40_000 * (10 - number), key: "avatar-\(number + 1)", pipeline: "selfie", model: .succeeded([:]),
                kind: .jobSucceeded, took: 190_000 + Int64(random.below(60_000)), cost: 1.4, now: now)
        }
        let batch = try await makeBatch()
        let failed = try await world.make(
            2100, key: "town-hall",
            model: .failed(
                StepFailure(
                    "the service refused: no credit is left",
                    hint: "add credit at the service, then pipeline retry town-hall",
                    service: "studio", request: "POST https://api.studio.example/v1/models", status: 402,
                    body: "{\"error\":\"insufficient_credit\",\"balance\":0}")), kind: .jobFailed, took: 31_000,
            now: now)
        let succeeded = try await world.make(
            840, key: "interview", model: .succeeded(["id": "m-8841"]), kind: .jobSucceeded, took: 74_000, cost: 0.09,
            now: now)
        try await world.make(600, key: "podcast-12", model: .cancelled, kind: .jobCancelled, took: 20_000, now: now)
        let lost = try await world.make(
            400, key: "keynote",
            model: .unknown(
                AttemptState(),
                UnknownSubmit(key: "keynote-model", since: now - .seconds(380), reason: "the connection broke")),
            took: 0, now: now)
        try await world.journal.commit(
            [.released(nil)], under: Lease(job: lost, owner: world.owner, epoch: 1))
        let paused = try await world.make(300, key: "webinar", took: 0, now: now)
        try await world.journal.commit(
            [.released(.paused)], under: Lease(job: paused, owner: world.owner, epoch: 1))
        let waiting = try await world.make(
            42, key: "all-hands",
            model: .waiting(
                AttemptState(number: 2), .at(now + .seconds(18)), WaitReason(.poll, detail: "rendering, 61 %")),
            took: 12_000, captures: ["id": "m-9017"], now: now)
        try await world.make(9, key: "demo-day", took: 8_000, now: now)
        for (job, age) in [(waiting, 54), (succeeded, 914), (failed, 2131)] {
            exchanges(of: job, from: now - .seconds(age))
        }
        try await world.journal.closeService(
            ClosedService(
                id: ServiceID("render"), name: "render-farm", since: now - .seconds(40), until: now + .seconds(140),
                closings: 2))
        return Made(waiting: waiting, failed: failed, succeeded: succeeded, batch: batch)
    }

    private func model(_ kind: JobEvent.Kind) -> StepState {
        kind == .jobSucceeded
            ? .succeeded(["id": "m-1"]) : .failed(StepFailure("the remote job failed: no speech found"))
    }

    /// Some requests of a job: an upload in parts, a submit, polls.
    private func exchanges(of job: JobID, from start: Timestamp) {
        func add(
            _ second: Double, _ method: String, _ path: String, _ stage: String, sent: Int64, status: Int,
            _ body: String
        ) {
            var record = ExchangeRecord(
                step: StepKey(stage: stage), attempt: 1, started: start + .seconds(second), method: method,
                url: "https://api.studio.example/v1\(path)",
                headers: [NamedText("Authorization", "‹secret›"), NamedText("Content-Type", "application/json")],
                body: sent == 0 ? nil : RecordedBody(size: sent, type: "application/octet-stream"))
            record.answer = ExchangeRecord.ServiceResponse(
                status: status, version: "HTTP/2", headers: [NamedText("content-type", "application/json")],
                body: RecordedBody(size: Int64(body.utf8.count), type: "application/json", text: body),
                timings: .init(
                    nameLookup: 0.01, connect: 0.03, tls: 0.06, sent: 0.4, firstByte: 0.5, total: 0.4 + second / 60))
            world.workspace.exchanges.append(record, of: job)
        }
        for part in 0..<6 {
            add(Double(part) * 2, "PUT", "/uploads/u-1?part=\(part + 1)", "upload", sent: 8 << 20, status: 200, "")
        }
        add(14, "POST", "/models", "model", sent: 214, status: 202, "{\"id\":\"m-9017\",\"state\":\"queued\"}")
        for poll in 0..<4 {
            add(
                16 + Double(poll) * 8, "GET", "/models/m-9017", "model", sent: 0, status: poll == 1 ? 503 : 200,
                "{\"id\":\"m-9017\",\"state\":\"rendering\",\"percent\":\(16 + poll * 15)}")
        }
        world.workspace.exchanges.flush(job)
    }

    /// Makes a batch that stopped, since none of its items said what it cost.
    func makeUnpricedBatch() async throws -> JobID {
        let (id, lease) = try await beginBatch("unpriced", JobID(at: now, random: (11, 11)), started: now)
        let items = (1...11).map { NewItem(key: "row-\($0)", line: nil, inputs: [:]) }
        _ = try await world.journal.add(
            items, place: ReadingPlace(source: 0), isRead: true, known: KnownItemRule(), to: lease)
        for item in try await world.journal.items(of: id, in: [.pending], after: 0, limit: 10) {
            let begun = try await begin(item, JobID(at: now, random: (12, UInt64(item.number))), "unpriced", id, now)
            var outcome = ItemOutcome(.succeeded)
            outcome.ended = now
            try await world.journal.commit([.item(outcome), .ended(now)], under: begun)
        }
        try await world.journal.commit([.released(.spent)], under: lease)
        return id
    }

    private func record(_ id: JobID, _ key: String, started: Timestamp) -> JobRecord {
        JobRecord(
            id: id, pipeline: "caption", key: key, started: started, source: DashboardWorld.document,
            sourceName: "caption.json", digest: "digest-caption", inputs: [:], environment: [:],
            folders: JobFolders(document: "/videos", output: "/out"), overwrites: false)
    }

    private func beginBatch(_ key: String, _ id: JobID, started: Timestamp) async throws -> (JobID, Lease) {
        let batch = BatchRecord(sources: ["video=june/**/*.mov"], folder: "/videos", settings: BatchSettings(spend: 80))
        let event = JobEvent(sequence: 1, time: started, kind: .jobStarted, job: id, pipeline: "caption")
        let job = JobSnapshot(record: record(id, key, started: started), steps: [:], mode: .attached)
        return (id, try await world.journal.create(batch, job: job, events: [event], owner: world.owner))
    }

    private func begin(
        _ item: ItemRecord, _ id: JobID, _ key: String, _ batch: JobID, _ started: Timestamp
    ) async throws -> Lease {
        var own = record(id, "\(key).\(item.number)", started: started)
        own.item = BatchItem(batch: batch, key: item.key)
        return try await world.journal.create(
            JobSnapshot(record: own, steps: [:], mode: .attached), events: [], owner: world.owner)
    }

    private func makeBatch() async throws -> JobID {
        let started = now - .seconds(4_000)
        let (id, lease) = try await beginBatch("june-recordings", JobID(at: started, random: (9, 9)), started: started)
        let items = (1...640).map { NewItem(key: "day-\($0 / 24 + 1)/clip-\($0).mov", line: nil, inputs: [:]) }
        _ = try await world.journal.add(
            items, place: ReadingPlace(source: 0), isRead: true, known: KnownItemRule(), to: lease)
        var random = SplitMix64(seed: 3)
        let pending = try await world.journal.items(of: id, in: [.pending], after: 0, limit: 480)
        for (index, item) in pending.enumerated() {
            let begun = try await begin(
                item, JobID(at: started, random: (10, UInt64(index))), "june-recordings", id, started)
            if index >= 431 { continue }
            var item = ItemOutcome(random.below(30) == 0 ? .failed : .succeeded)
            let ended = started + .milliseconds(Int64(index) * 9_200 + Int64(random.below(8000)))
            item.ended = ended
            item.cost = 0.12
            if item.state == .succeeded { item.results = ["words": 120] }
            item.seconds = 40 + Double(random.below(600)) / 10 + (random.below(40) == 0 ? 300 : 0)
            if item.state == .failed {
                item.failure =
                    random.below(3) == 0
                    ? ItemFailure(stage: "upload", failure: StepFailure("the file has no audio track"))
                    : ItemFailure(stage: "model", failure: StepFailure("the service is overloaded", status: 503))
            }
            try await world.journal.commit([.item(item), .ended(ended)], under: begun)
        }
        return id
    }
}
