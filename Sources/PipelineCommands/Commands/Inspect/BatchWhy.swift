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
        // Rows that were never begun can't be begun again.
        let isRows = phase == .failed && !failures.isEmpty && !failures.contains(where: \.wasBegun)
        let resume = "pipeline resume \(snapshot.record.key)"
        let advice: String? =
            if isRows {
                "once the rows are mended, run the same command again"
            } else if cause == .extension {
                try await found.extensionAdvice(in: journal)
            } else {
                found.adviceUntilTaken(in: journal, resume: resume) ?? found.batchAdvice
            }
        if isJSON {
            console.data(
                JSON.object([
                    "batch": .string(snapshot.record.key), "job": .string(snapshot.record.id.text),
                    "state": .string(phase.rawValue), "cause": JSON(cause?.rawValue), "advice": JSON(advice),
                    "counts": text.countsJSON, "closed": .array(closed.map(\.json)),
                ]).prettyText())
            return
        }
        let why = cause.map { ": \(snapshot.isQueued ? OwnedJob.queued : batch.explanation(of: $0))" } ?? ""
        console.data(
            "batch \(snapshot.record.key) \(WhyCommand.verb(phase)) \(phase.rawValue, phase.style)\(why)" as StyledText)
        if let worker = try await WorkerText(found, journal) { console.data(SafeText.line("  \(worker.line)")) }
        if let advice { console.data("  \("do:", .cyan) \(advice)" as StyledText) }
        let (running, pending) = (batch.underWayCount, batch.count(.pending))
        if isOwned, pending > 0 {
            let waiting = pending == 1 ? "item waits for its" : "items wait for their"
            console.data("\(pending) \(waiting) turn: \(running) are at work, of at most \(batch.settings.atOnce)")
        }
        if isOwned { for line in try await failedAttempts(text, in: journal) { console.data(SafeText.line(line)) } }
        let now = SystemClock().now
        for service in closed { console.data(SafeText.line(service.line(now: now))) }
        for group in failures { console.data(SafeText.line(text.line(of: group))) }
        for item in try await journal.items(of: snapshot.record.id, in: [.unknown], after: 0, limit: 5) {
            console.data(SafeText.line("? \(item.key): pipeline why \(text.path(of: item.key))"))
        }
    }

    /// The failures of the last attempts of items under way, with how many of those looked at: a service that is away holds
    /// all of them, and nothing has failed yet.
    private func failedAttempts(_ text: BatchText, in journal: Workspace.Journal) async throws -> [String] {
        var (counts, examples, order) = ([String: Int](), [String: String](), [String]())
        for item in try await journal.items(of: found.snapshot.record.id, in: [.running], after: 0, limit: 64) {
            guard let job = try await journal.job(of: item) else { continue }
            for step in job.snapshot.steps.values {
                guard case .waiting(_, _, let reason) = step.state, reason.kind == .retry, let detail = reason.detail
                else { continue }
                if counts[detail] == nil { order.append(detail) }
                counts[detail, default: 0] += 1
                examples[detail] = examples[detail] ?? item.key
            }
        }
        return order.prefix(5).map { detail in
            let (count, example) = (counts[detail] ?? 0, text.path(of: examples[detail] ?? ""))
            return "\(count) \(count == 1 ? "tries" : "try") again: \(detail)  e.g. pipeline why \(example)"
        }
    }
}
