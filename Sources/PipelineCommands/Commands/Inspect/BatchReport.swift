import JSONPath
import PipelineCore
import PipelineKit

/// A batch as `show` tells it.
struct BatchReport {
    private let found: OwnedJob
    private let batch: BatchRecord

    init(_ found: OwnedJob, _ batch: BatchRecord) {
        self.found = found
        self.batch = batch
    }

    func show(
        on console: Console, isJSON: Bool, in journal: Workspace.Journal, of workspace: Workspace
    ) async throws {
        let closed = try await workspace.closedServices(of: found, in: journal)
        let text = BatchText(key: found.snapshot.record.key, batch: batch, closed: closed)
        let failures = try await journal.failures(of: found.snapshot.record.id, limit: 20)
        let now = SystemClock().now
        guard isJSON else {
            let resume = "pipeline resume \(found.snapshot.record.key)"
            let advice = try await found.adviceUntilTaken(in: journal, resume: resume)
            let retry =
                failures.contains(where: \.wasBegun)
                ? try await FailedItemsWay(of: found.snapshot, journal).line(failures, changed: []) : nil
            for line in text.lines(found, failures: failures, advice: advice, retry: retry, now: now) {
                console.data(line)
            }
            if let worker = try await WorkerText(found, journal) { console.data(SafeText.line(worker.line)) }
            return
        }
        var object = text.summary(found, now: now)
        object["failures"] = .array(failures.map(\.json))
        console.data(JSON.object(object).prettyText())
    }
}

extension OwnedJob {
    /// A batch's object in `list --json`; nil for a job with steps.
    func batchSummary(closed: [ClosedService]) -> JSON? {
        snapshot.batch.map {
            .object(
                BatchText(key: snapshot.record.key, batch: $0, closed: closed).summary(self, now: SystemClock().now))
        }
    }
}
