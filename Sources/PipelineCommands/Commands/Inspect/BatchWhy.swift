import JSONPath
import PipelineCore
import PipelineKit

/// The answer of `why` for a batch: how many items wait and for what, which services are closed, and what a person can
/// do.
struct BatchWhy {
    /// A wait of items under way.
    private struct Wait {
        let reason: WaitReason.Kind
        let detail: String
        /// An item that waits so.
        let example: String
        var count = 1

        var json: JSON {
            [
                "reason": .string(reason.rawValue), "detail": .string(detail), "count": .number(JSONNumber(count)),
                "example": .string(example),
            ]
        }

        func line(_ text: BatchText) -> String {
            let (one, several) = reason == .full ? ("waits", "wait") : ("tries again", "try again")
            return "\(count) \(count == 1 ? one : several): \(detail)  e.g. pipeline why \(text.path(of: example))"
        }
    }

    private let found: OwnedJob
    private let batch: BatchRecord

    init(_ found: OwnedJob, _ batch: BatchRecord) {
        self.found = found
        self.batch = batch
    }

    func show(
        on console: Console, isJSON: Bool, in journal: Workspace.Journal, of workspace: Workspace
    ) async throws {
        let (snapshot, isOwned) = (found.snapshot, found.owner != nil)
        let closed = try await workspace.closedServices(of: found, in: journal)
        let failures = try await journal.failures(of: snapshot.record.id, limit: 5)
        let (phase, cause) = (found.phase, found.suspension)
        let text = BatchText(key: snapshot.record.key, batch: batch, closed: closed)
        let resume = "pipeline resume \(snapshot.record.key)"
        let asked: String? =
            if cause == .extension {
                try await found.extensionAdvice(in: journal)
            } else {
                try await found.adviceUntilTaken(in: journal, resume: resume) ?? found.batchAdvice(after: failures)
            }
        let advice = try await found.placed(asked, in: journal)
        let now = SystemClock().now
        let waits = try await isOwned ? waitsUnderWay(in: journal) : []
        if isJSON {
            console.data(
                JSON.object([
                    "batch": .string(snapshot.record.key), "job": .string(snapshot.record.id.text),
                    "state": .string(phase.rawValue), "cause": JSON(cause?.rawValue), "advice": JSON(advice),
                    "counts": text.countsJSON, "closed": text.closedJSON(at: now),
                    "waits": .array(waits.map(\.json)),
                ]).prettyText())
            return
        }
        let why = found.suspensionText.map { ": \($0)" } ?? ""
        console.data(
            "batch \(snapshot.record.key) \(WhyCommand.verb(phase)) \(phase.rawValue, phase.style)\(why)" as StyledText)
        if let worker = try await WorkerText(found, journal) { console.data(SafeText.line("  \(worker.line)")) }
        if let advice { console.data("  \("do:", .cyan) \(advice)" as StyledText) }
        let (running, pending) = (batch.underWayCount, batch.pendingCount)
        if isOwned, pending > 0 {
            let waiting = pending == 1 ? "item waits for its" : "items wait for their"
            let bound =
                running < batch.settings.atOnce && running >= batch.affordableCount
                ? "and what may be spent lets no more begin yet" : "of at most \(batch.settings.atOnce)"
            console.data("\(pending) \(waiting) turn: \(running) are at work, \(bound)")
        }
        for wait in waits { console.data(SafeText.line(wait.line(text))) }
        for service in closed { console.data(SafeText.line(service.line(now: now))) }
        for group in failures { console.data(SafeText.line(text.line(of: group))) }
        for line in try await UnknownItemsNote(of: snapshot.record.id, text, journal, workspace).lines {
            console.data(SafeText.line(line))
        }
    }

    /// The first reasons why items under way don't go on, of those looked at: the failure of the last attempt, by
    /// which a service that is away holds all of them, and a service that has as many jobs as it may have.
    private func waitsUnderWay(in journal: Workspace.Journal) async throws -> [Wait] {
        var waits: [Wait] = []
        for item in try await journal.items(of: found.snapshot.record.id, in: [.running], after: 0, limit: 64) {
            guard let job = try await journal.job(of: item) else { continue }
            for step in job.snapshot.steps.values {
                guard case .waiting(_, _, let reason) = step.state, let detail = reason.detail,
                    reason.kind == .retry || reason.kind == .full || reason.isTrouble
                else { continue }
                if let known = waits.firstIndex(where: { $0.reason == reason.kind && $0.detail == detail }) {
                    waits[known].count += 1
                } else {
                    waits.append(Wait(reason: reason.kind, detail: detail, example: item.key))
                }
            }
        }
        return Array(waits.prefix(5))
    }
}
