import Foundation
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineNotifier
import PipelineTestKit

/// The sinks of a document's `notify`, over real libcurl and real programs.
struct SinkBench {
    static let time = Timestamp(milliseconds: 1_800_000_000_123)
    static let notification = JobNotification(
        id: "01jd3v5k8w9x0y1z2a3b4c5d6e-0-7", event: .succeeded, job: JobID("01jd3v5k8w9x0y1z2a3b4c5d6e"),
        pipeline: "selfie", time: time, title: "selfie »fertig«", data: ["files": []])

    struct FixedClock: WallClock {
        let now = SinkBench.time
        let elapsed = Duration.zero
        func sleep(until time: Timestamp) async throws(CancellationError) {}
    }

    let folder: URL
    var environment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
    var showLine: @Sendable (String) -> Bool = { _ in false }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sinks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func text(_ name: String) -> String? { try? String(contentsOf: folder.appending(path: name), encoding: .utf8) }

    /// Sends the notification to the sink that the member of an entry names; nil when it was taken.
    func deliver(
        _ member: String, secrets: [String: String] = [:], _ notification: JobNotification = SinkBench.notification
    ) async throws -> NotificationFailure? {
        let source = SourceText(
            name: "test.json",
            text: """
                { "pipeline": 1, "name": "test", "notify": [ { "on": ["succeeded"], \(member) } ],
                  "stages": [ { "id": "a", "kind": "nothing" } ] }
                """)
        let kind = StageKind.scripted("nothing") { _, _, _ in .finished([:]) }
        let plan = try Planner(catalogue: Catalogue(kinds: [kind]) { _, _ in }).plan(source)
        let sinks = StandardSinks(
            network: Network(transport: CurlTransport()), environment: environment, clock: FixedClock(),
            showLine: showLine)
        do throws(NotificationFailure) {
            let sink = try await sinks.sink(
                of: plan.definition.notifications[0], in: Scope(secrets: secrets, baseFolder: folder.path),
                source: source)
            try await sink.deliver(notification)
            return nil
        } catch {
            return error
        }
    }
}
