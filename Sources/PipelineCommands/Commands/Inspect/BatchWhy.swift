import JSONPath
import PipelineCore
import PipelineKit

/// The answer of `why` for a batch: how many items wait and for what, which services are closed, and what a person can
/// do.
struct BatchWhy {
    private let found: OwnedJob
    private let batch: BatchRecord

    init(_ found: OwnedJob, _ batch: BatchRecord) {
        self.found = found
        self.batch = batch
    }

    func show(on console: Console, isJSON: Bool, in journal: Workspace.Journal) async throws {
        let (snapshot, isOwned) = (found.snapshot, found.owner != nil)
        let closed = try await journal.closedServices()
        let failures = try await journal.failures(of: snapshot.record.id, limit: 5)
        let cause = snapshot.suspension(isOwned: isOwned)
        let phase = snapshot.phase(isOwned: isOwned)
        let text = BatchText(key: snapshot.record.key, batch: batch, closed: closed)
        let advice = found.batchAdvice
        if isJSON {
            console.data(
                JSON.object([
                    "batch": .string(snapshot.record.key), "job": .string(snapshot.record.id.text),
                    "state": .string(phase.rawValue), "cause": JSON(cause?.rawValue), "advice": JSON(advice),
                    "counts": text.countsJSON, "closed": .array(closed.map(\.json)),
                ]).prettyText())
            return
        }
        let why = cause.map { ": \($0.explanation)" } ?? ""
        console.data("batch \(snapshot.record.key) is \(phase.rawValue, phase.style)\(why)" as StyledText)
        if let advice { console.data("  \("do:", .cyan) \(advice)" as StyledText) }
        let (running, pending) = (batch.count(.running), batch.count(.pending))
        if isOwned, pending > 0 {
            console.data(
                "\(pending) items wait for their turn: \(running) are at work, of at most \(batch.settings.atOnce)")
        }
        let now = SystemClock().now
        for service in closed { console.data(SafeText.line(service.line(now: now))) }
        for group in failures { console.data(SafeText.line(text.line(of: group))) }
        for item in try await journal.items(of: snapshot.record.id, in: [.unknown], after: 0, limit: 5) {
            console.data(SafeText.line("? \(item.key): pipeline why \(text.path(of: item.key))"))
        }
    }
}
