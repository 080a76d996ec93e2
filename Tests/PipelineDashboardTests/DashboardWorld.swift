import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit

@testable import PipelineDashboard

/// A state folder with a journal, and a dashboard over it on loopback.
final class DashboardWorld: Sendable {
    /// Its path is used once: SQLite removes the log of a journal by its path, at the last close.
    private let room = TemporaryFolder()
    let folder: String
    let workspace: Workspace
    let journal: Workspace.Journal
    let service: DashboardService
    let owner = OwnerID("tester")

    init(
        journal address: String? = nil, actions: (any JobActions)? = nil, tokenFile: String? = nil,
        basePath: String = "", allowedHosts: [String] = []
    ) async throws {
        folder = room.path
        workspace = Workspace(
            settings: Settings(
                stateFolder: folder + "/state", secretsFile: nil,
                environment: ["PATH": "/usr/bin:/bin", "PIPELINE_JOURNAL": address ?? ""]))
        journal = try workspace.openJournal()
        service = try await DashboardService.start(
            workspace, journal: journal,
            options: DashboardOptions(
                allowsActions: actions != nil, tokenFile: tokenFile, basePath: basePath, allowedHosts: allowedHosts),
            actions: actions)
    }

    /// Stops it and leaves nothing behind.
    /// - Parameter isServed: false where the service was stopped before.
    func close(isServed: Bool = true) async {
        if isServed { await service.stop() }
        await journal.close()
        room.remove()
    }

    /// The host and port for people.
    var host: String { String(service.address.dropFirst("http://".count).prefix { $0 != "/" }) }

    /// A cookie of a browser that has opened a link.
    func signIn() async throws -> String {
        let link = service.link()
        let target = String(link.dropFirst("http://".count).drop { $0 != "/" })
        let answer = try await get(target)
        guard let line = answer.fields.first(where: { $0.lowercased().hasPrefix("set-cookie: ") }) else {
            throw NoCookie(answer: answer.text)
        }
        return String(line.dropFirst("set-cookie: ".count).prefix { $0 != ";" })
    }

    struct NoCookie: Error { let answer: String }

    /// Returns what is answered to a request of a browser at the address for people.
    func get(_ target: String, cookie: String? = nil) async throws -> RawResponse {
        let field = cookie.map { "Cookie: \($0)\r\n" } ?? ""
        return try await send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(field)Connection: close\r\n\r\n")
    }

    /// Returns what is answered to the bytes of a request.
    func send(_ request: String) async throws -> RawResponse {
        let connection = try RawConnection(port: service.port)
        connection.send(request)
        return RawResponse(await connection.rest())
    }

    static let document = """
        {
          "pipeline": 1, "name": "caption", "inputs": { "video": { "type": "file" } },
          "batch": { "results": { "words": "${{ stages.model.id }}" } },
          "services": { "studio": { "url": "http://127.0.0.1:9/api" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "studio", "file": "${{ inputs.video }}", "protocol": "put",
              "request": { "PUT": "/uploads" } },
            { "id": "model", "kind": "compute", "service": "studio", "submit": { "POST": "/models", "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/models/${{ self.id }}", "status": "$.state", "succeeded": ["done"], "failed": ["error"] } },
            { "id": "fetch", "kind": "download", "service": "studio", "needs": ["model"],
              "request": { "GET": "/models/${{ stages.model.id }}/text" }, "to": "text.txt" }
          ]
        }
        """

    /// Keeps a job with three stages; the middle one is in the state.
    @discardableResult func make(
        _ number: Int, key: String? = nil, pipeline: String = "caption", model: StepState = .running(AttemptState()),
        kind: JobEvent.Kind? = nil, took: Int64 = 72_000, cost: Double? = nil, captures: JSONObject = ["id": "m-1"],
        submit: SubmitRecord? = nil, source: String = DashboardWorld.document, now: Timestamp = SystemClock().now
    ) async throws -> JobID {
        let started = now - .milliseconds(took + Int64(number) * 1000)
        let id = JobID(at: started, random: (7, UInt64(bitPattern: Int64(number))))
        let record = JobRecord(
            id: id, pipeline: pipeline, key: key ?? id.text, started: started, source: source,
            sourceName: "\(pipeline).json", digest: "digest-\(pipeline)", inputs: ["video": "/videos/a.mov"],
            environment: [:], folders: JobFolders(document: "/videos", output: "/out"), overwrites: false)
        var upload = StepRecord(state: .succeeded(["size": 1]))
        upload.started = started
        upload.ended = started + .milliseconds(took / 4)
        upload.bytesSent = 48 << 20
        upload.attempts = 1
        var step = StepRecord(state: model)
        step.started = upload.ended
        step.attempts = 2
        step.captures = captures
        step.cost = cost
        var fetch = StepRecord()
        if let kind {
            step.ended = started + .milliseconds(took * 3 / 4)
            if kind == .jobSucceeded {
                fetch.state = .succeeded([:])
                fetch.started = step.ended
                fetch.ended = started + .milliseconds(took)
                fetch.bytesReceived = 9 << 10
                fetch.attempts = 1
            }
        }
        let snapshot = JobSnapshot(
            record: record,
            steps: [
                StepKey(stage: "upload"): upload, StepKey(stage: "model"): step, StepKey(stage: "fetch"): fetch,
            ], mode: .attached)
        func event(_ sequence: Int, _ kind: JobEvent.Kind, _ time: Timestamp) -> JobEvent {
            JobEvent(sequence: sequence, time: time, kind: kind, job: id, pipeline: pipeline)
        }
        let lease = try await journal.create(snapshot, events: [event(1, .jobStarted, started)], owner: owner)
        if let submit { try await journal.commit([.submit(StepKey(stage: "model"), submit)], under: lease) }
        guard let kind else { return id }
        let end = started + .milliseconds(took)
        let usual = pipeline == "selfie" ? 215.0 : 61.0
        func sample(_ stage: String, _ share: Double) -> JournalChange {
            let seconds = Double(took) / 1000 * share
            return .sample(
                StageSample(
                    pipeline: pipeline, stage: stage, ended: end, seconds: seconds, polls: stage == "model" ? 6 : 0,
                    bytes: stage == "upload" ? 48 << 20 : 0, p50: usual * share, p90: usual * share * 1.2))
        }
        var changes: [JournalChange] = [.event(event(2, kind, end)), .ended(end)]
        if kind == .jobSucceeded {
            changes = [sample("upload", 0.25), sample("model", 0.5), sample("fetch", 0.25)] + changes
            changes.insert(
                .file(
                    WrittenFile(
                        path: "/out/text-\(number).txt", bytes: 9216, sha256: String(repeating: "ab", count: 32))),
                at: 0)
        }
        try await journal.commit(changes, under: lease)
        return id
    }

    /// Commits one more event of a job that this process owns.
    func touch(_ job: JobID, _ kind: JobEvent.Kind = .stageResumed) async throws {
        guard let snapshot = try await journal.snapshot(of: job) else { return }
        let lease = Lease(job: job, owner: owner, epoch: 1)
        let event = JobEvent(
            sequence: snapshot.sequence + 1, time: SystemClock().now, kind: kind, job: job,
            pipeline: snapshot.record.pipeline, step: StepKey(stage: "model"), attempt: 1)
        try await journal.commit([.event(event)], under: lease)
    }
}

/// A response as its bytes came.
struct RawResponse {
    let status: Int
    let fields: [String]
    let body: String
    let text: String

    init(_ text: String) {
        self.text = text
        let parts = text.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        fields = Array(lines.dropFirst())
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
    }

    /// Returns whether its body holds the text.
    func shows(_ text: String) -> Bool { body.contains(text) }

    func value(_ name: String) -> String? {
        fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }
}
