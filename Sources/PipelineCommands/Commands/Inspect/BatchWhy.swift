import JSONPath
import PipelineCore
import PipelineKit

/// The answer of `why` for a batch: how many items wait and for what, which services are closed, and what a person can
/// do.
struct BatchWhy {
    /// A wait of items under way.
    private struct Wait {
        /// As JSON has it: a ``WaitReason/Kind``, or that the rules for background work hold the items back.
        let reason: String
        var detail: String
        /// An item that waits so.
        let example: String
        /// The earliest time at which one that is held back goes on.
        var until: Timestamp?
        var count = 1

        static let heldBack = "heldBack"

        var json: JSON {
            [
                "reason": .string(reason), "detail": .string(detail), "count": .number(JSONNumber(count)),
                "example": .string(example),
            ]
        }

        func line(_ text: BatchText) -> String {
            let example = "e.g. pipeline why \(text.path(of: example))"
            if let until {
                let clock = TimeText(now: SystemClock().now)
                return
                    "\(count) \(count == 1 ? "is" : "are") held back: \(detail), the first until \(clock.clock(until)); "
                    + "'pipeline watch \(text.key)' on a terminal lets them go on at once  \(example)"
            }
            let isFull = reason == WaitReason.Kind.full.rawValue
            let (one, several) = isFull ? ("waits", "wait") : ("tries again", "try again")
            return "\(count) \(count == 1 ? one : several): \(detail)  \(example)"
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
        let waits = try await isOwned ? waitsUnderWay(in: journal, of: workspace) : []
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
        if let left = text.leftAside { console.data(SafeText.line(left)) }
        for wait in waits { console.data(SafeText.line(wait.line(text))) }
        for service in closed { console.data(SafeText.line(service.line(now: now))) }
        for group in failures { console.data(SafeText.line(text.line(of: group))) }
        for line in try await UnknownItemsNote(of: snapshot.record.id, text, journal, workspace).lines {
            console.data(SafeText.line(line))
        }
    }

    /// The first reasons why items under way don't go on, of those looked at: the rules that hold them back, the failure
    /// of the last attempt, by which a service that is away holds all of them, and a service that has as many jobs as it
    /// may have.
    private func waitsUnderWay(in journal: Workspace.Journal, of workspace: Workspace) async throws -> [Wait] {
        var waits: [Wait] = []
        func add(_ wait: Wait) {
            let known = waits.firstIndex {
                $0.reason == wait.reason && ($0.detail == wait.detail || $0.reason == Wait.heldBack)
            }
            guard let known else { return waits.append(wait) }
            waits[known].count += 1
            waits[known].until = [waits[known].until, wait.until].compactMap(\.self).min()
            // Of those that go on together all but one say only that, at length.
            if wait.detail.utf8.count < waits[known].detail.utf8.count { waits[known].detail = wait.detail }
        }
        let plan = try await workspace.plan(of: found.snapshot.record)
        for item in try await journal.items(
            of: found.snapshot.record.id, in: [.running, .waiting], after: 0, limit: 64)
        {
            guard let job = try await journal.job(of: item) else { continue }
            if let held = try await workspace.deferral(of: job, plan, in: journal) {
                add(Wait(reason: Wait.heldBack, detail: held.reason, example: item.key, until: held.until))
            }
            for step in job.snapshot.steps.values {
                guard case .waiting(_, _, let reason) = step.state, let detail = reason.detail,
                    reason.kind == .retry || reason.kind == .full || reason.isTrouble
                else { continue }
                add(Wait(reason: reason.kind.rawValue, detail: detail, example: item.key))
            }
        }
        return Array(waits.prefix(5))
    }
}
