import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline why`: why a job isn't going on right now.
struct WhyCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Say why a job isn't going on right now, and when it will.",
        discussion: "Example: pipeline why last")

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJob

    @Flag(help: "Write JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        return await named.forEach(
            in: journal, console,
            item: { try await ItemWhy($0, of: $1).show(on: console, isJSON: json, in: journal) }
        ) { found in
            if let batch = found.snapshot.batch {
                return try await BatchWhy(found, batch).show(
                    on: console, isJSON: json, in: journal, of: workspace)
            }
            try await explain(found, journal, workspace, console)
        }
    }

    private func explain(
        _ found: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        let (phase, cause) = (found.phase, found.suspension)
        let hasEnded = phase == .succeeded || phase == .cancelled
        let (plan, lack) = hasEnded ? (nil, nil) : await Self.plan(of: found.snapshot.record, workspace)
        let given = try await advice(for: found, cause, plan, journal, workspace)
        let asked = try await found.placed(given, in: journal)
        let advice = lack.map { [$0, asked].compactMap(\.self).joined(separator: "; ") } ?? asked
        let held = try await blockedSteps(of: found, plan, journal)
        let background = try await background(of: found.snapshot, plan, journal, workspace)
        let untold = found.snapshot.notifications.values.filter { $0.problem != nil }.sorted { $0.id < $1.id }
        let addresses = held.isEmpty ? nil : try workspace.callbackAddresses(of: journal)
        let exchanges = held.isEmpty ? [] : workspace.exchanges.records(of: found.snapshot.record.id)
        if json {
            let steps = held.map {
                Self.json(
                    $0, pressed: pressing($0, found.snapshot, plan), LastResponse(of: $0.step, in: exchanges),
                    PushAddress(of: $0.step, in: found.snapshot, plan, addresses))
            }
            console.data(
                JSON.object([
                    "job": .string(found.snapshot.record.id.text), "state": .string(phase.rawValue),
                    "cause": JSON(cause?.rawValue), "advice": JSON(advice), "steps": .array(steps),
                    "background": background?.json ?? .null, "notifications": .array(untold.map(Self.json)),
                ]).prettyText())
        } else {
            let why = found.suspensionText.map { ": \($0)" } ?? Self.holding(held)
            console.data(
                "job \(found.snapshot.record.id) \(Self.verb(phase)) \(phase.rawValue, phase.style)\(why)" as StyledText
            )
            if let worker = try await WorkerText(found, journal) { console.data("  \(worker.line)") }
            if let advice { console.data("  \("do:", .cyan) \(advice)") }
            let changes = hasEnded ? [] : try await ChangeNote.all(of: found, plan, in: journal)
            for change in changes { console.data("  \(change.text)") }
            let hints = try await Self.hints(for: held, of: found.snapshot, journal)
            for step in held {
                let pressed = pressing(step, found.snapshot, plan)
                let response = LastResponse(of: step.step, in: exchanges)
                Self.lines(step, pressed: pressed, response, hint: hints[step.step]).forEach { console.data($0) }
                if let address = PushAddress(of: step.step, in: found.snapshot, plan, addresses) {
                    console.data("  \(address.line)")
                }
            }
            let warned = try await JobWarnings(of: found.snapshot, steps: Set(held.map(\.step)), in: journal)
            for line in warned.lines { console.data(line) }
            for line in background?.lines ?? [] { console.data(SafeText.line(line)) }
            for record in untold { console.data(SafeText.line(Self.line(record))) }
            if let advice = self.advice(for: untold, of: found.snapshot, journal) {
                console.data("  \("do:", .cyan) \(advice)" as StyledText)
            }
        }
    }

    /// The job's plan, or a sentence that says what this program does not know of its document.
    private static func plan(of record: JobRecord, _ workspace: Workspace) async -> (plan: Plan?, lack: String?) {
        do throws(DefinitionError) {
            return (try await workspace.plan(of: record), nil)
        } catch {
            let detail = error.diagnostics.first.map { ": \($0.message)" } ?? ""
            return (nil, "this program does not know all that its document names\(detail)")
        }
    }

    /// Returns what holds each step; what the rules for background work hold back says until when.
    private func blockedSteps(
        of job: OwnedJob, _ plan: Plan?, _ journal: Workspace.Journal
    ) async throws -> [BlockedStep] {
        guard let plan else { return [] }
        let snapshot = job.snapshot
        let held = BlockedSteps(of: snapshot, in: plan, isOwned: job.owner != nil, isToBeTaken: job.isToBeTaken).all
        guard job.owner != nil else { return held }
        let now = SystemClock().now
        let events = try await journal.events(of: snapshot.record.id, after: max(0, snapshot.sequence - 64))
        let advice = "'pipeline watch \(snapshot.record.id)' on a terminal lets it go on at once"
        return held.map { standstill in
            guard let deferral = events.deferral(of: standstill.step, in: snapshot, plan, at: now) else {
                return standstill
            }
            return standstill.heldBack(until: deferral.until, reason: deferral.reason, advice: advice)
        }
    }

    /// Returns the hints of the last failed attempts of steps that wait for the next one, where the journal's last events
    /// have them.
    private static func hints(
        for held: [BlockedStep], of job: JobSnapshot, _ journal: Workspace.Journal
    ) async throws -> [StepKey: String] {
        let failing = Set(held.map(\.step).filter { job.steps[$0]?.state.isFailing == true })
        if failing.isEmpty { return [:] }
        var hints: [StepKey: String] = [:]
        for event in try await journal.events(of: job.record.id, after: max(0, job.sequence - 64)) {
            guard event.kind == .attemptFailed, let step = event.step, failing.contains(step) else { continue }
            hints[step] = event.data["error"]?["hint"]?.string
        }
        return hints
    }

    static func verb(_ phase: JobPhase) -> String {
        switch phase {
        case .succeeded, .failed: "has"
        case .cancelled: "was"
        case .running, .waiting, .suspended, .unknown: "is"
        }
    }

    /// Of a job of which nothing goes on but what the rules of the background let go on: that, and when.
    private static func holding(_ held: [BlockedStep]) -> String {
        let times = held.filter(\.isHeldBack).compactMap(\.until)
        guard let first = times.min(), held.allSatisfy({ $0.isHeldBack || $0.until == nil }) else { return "" }
        return ", held back until \(TimeText(now: SystemClock().now).clock(first))"
    }

    /// Returns what will have expired if the step does not go on in time.
    private func pressing(_ held: BlockedStep, _ job: JobSnapshot, _ plan: Plan?) -> StepExpiry? {
        plan.flatMap { job.pressing(held.step, in: $0) }
    }

    /// Returns what the rules of the background say; nil for a job that a person waits for, or that has ended.
    private func background(
        of job: JobSnapshot, _ plan: Plan?, _ journal: Workspace.Journal, _ workspace: Workspace
    ) async throws -> BackgroundBlockedStep? {
        guard let plan, job.ended == nil, try await isUnattended(job, plan, journal) else { return nil }
        let events = try await journal.events(of: job.record.id, after: max(0, job.sequence - 50))
        let gate = workspace.gate(journal: journal)
        return await BackgroundBlockedStep(
            job, plan: plan, ledger: try await workspace.ledger(), events: events, at: SystemClock().now,
            judge: { await gate.judge($0) })
    }

    /// Returns whether the rules of the background hold for the job: it is one of the background, or its command said
    /// at its start that nobody attends it.
    private func isUnattended(_ job: JobSnapshot, _ plan: Plan, _ journal: Workspace.Journal) async throws -> Bool {
        guard job.mode == .attached, plan.definition.background.isStated else { return job.mode == .background }
        let begun = try await journal.events(of: job.record.id, after: 0).last {
            $0.kind == .jobStarted || $0.kind == .jobResumed
        }
        return begun?.data["attended"]?.bool == false
    }

    /// Returns what a person can do about the job as a whole.
    private func advice(
        for job: OwnedJob, _ cause: SuspensionCause?, _ plan: Plan?, _ journal: Workspace.Journal,
        _ workspace: Workspace
    ) async throws -> String? {
        let snapshot = job.snapshot
        let resume = "pipeline resume \(snapshot.record.id)"
        if let advice = try await job.adviceUntilTaken(in: journal, resume: resume) { return advice }
        switch cause {
        case .secret:
            let said = try await job.suspensionDetail(in: journal)
            let detached = snapshot.mode == .background ? " --detach" : ""
            var missing: CommandError?
            var inputs: [String] = []
            if let plan {
                missing = try await workspace.missingSecret(of: plan, for: snapshot.record)
                inputs = try await workspace.missingInputs(of: plan, for: snapshot.record)
            }
            let given = missing?.failure.hint.map { "\($0), then " } ?? ""
            let again = inputs.map { " -i \($0)=…" }.joined()
            // Workers are given no values: the command has to stay with the job.
            let mayDetach = inputs.isEmpty || journal.shared == nil
            return [said, "\(given)\(resume)\(mayDetach ? detached : "")\(again)"].compactMap { $0 }.joined(
                separator: "; ")
        case .extension: return try await job.extensionAdvice(in: journal)
        case .tooManyFailures, .sameFailure: return "mend what failed, then \(resume), or pipeline retry"
        case .spent: return "\(resume) --spend MORE"
        case .interrupted, .paused, .noNetwork, .crashed: return resume
        case nil: return nil
        }
    }

    /// Returns how notifications of a job that has ended get a secret: the background owner has those that were handed over in
    /// its memory alone.
    private func advice(
        for untold: [NotificationRecord], of job: JobSnapshot, _ journal: Workspace.Journal
    ) -> String? {
        let lacksSecret = untold.contains { $0.isOpen && $0.problem?.hasPrefix("the secret ") == true }
        guard lacksSecret, job.ended != nil, job.outcome != .failed, journal.shared == nil else { return nil }
        return "pipeline resume \(job.record.id) --detach, with that secret set or in a file with --secrets-file"
    }

    private static func json(
        _ held: BlockedStep, pressed: StepExpiry?, _ response: LastResponse?, _ address: PushAddress?
    ) -> JSON {
        [
            "stage": .string(held.step.stage), "item": held.step.item.map { .number(JSONNumber($0)) } ?? .null,
            "reason": .string(held.reason), "until": JSON(held.until?.description), "tried": JSON(held.tried),
            "advice": JSON(held.advice), "mustActBefore": JSON(pressed?.mustActBefore.description),
            "lastResponse": response?.json(TimeText(now: SystemClock().now)) ?? .null,
            "pushAddress": address?.json ?? .null,
        ]
    }

    private static func haste(_ pressed: StepExpiry, _ clock: TimeText) -> String {
        let time = pressed.mustActBefore
        if pressed.time <= clock.now { return "too late" }
        return time <= clock.now
            ? "must act now" : "must act before \(clock.clock(time)), \(clock.until(time))"
    }

    private static func words(_ pressed: StepExpiry, _ step: StepKey) -> String {
        let clock = TimeText(now: SystemClock().now)
        let what =
            pressed.holder == step
            ? "what it has at the service, or was given," : "what '\(pressed.holder)' captured"
        return "\(what) \(pressed.time <= clock.now ? "was" : "is") good until \(clock.clock(pressed.time))"
    }

    private static func line(_ record: NotificationRecord) -> String {
        let now = SystemClock().now
        let rest =
            if !record.isOpen {
                "it was given up"
            } else if record.due > now {
                "it is tried again \(TimeText(now: now).until(record.due))"
            } else {
                "the job's owner, or 'pipeline daemon', tries it again"
            }
        return "the notification '\(record.event.rawValue)' could not be sent: \(record.problem ?? ""); \(rest)"
    }

    private static func json(_ record: NotificationRecord) -> JSON {
        [
            "id": .string(record.id), "on": .string(record.event.rawValue), "state": .string(record.state.rawValue),
            "due": .string(record.due.description),
            "failures": .number(JSONNumber(record.failures)), "problem": JSON(record.problem),
        ]
    }

    private static func lines(
        _ held: BlockedStep, pressed: StepExpiry?, _ response: LastResponse?, hint: String?
    ) -> [StyledText] {
        let clock = TimeText(now: SystemClock().now)
        var lines: [StyledText] = ["\(held.step.description, .bold): \(held.reason)"]
        if let until = held.until { lines.append("  goes on \(clock.until(until))") }
        if let pressed {
            lines.append("  \(haste(pressed, clock)): \(words(pressed, held.step))")
        }
        if let tried = held.tried { lines.append("  tried: \(tried)") }
        if let hint { lines.append("  \("hint:", .cyan) \(hint)") }
        if let response { lines.append("  \(response.line(clock))") }
        if let advice = held.advice { lines.append("  \("do:", .cyan) \(advice)") }
        return lines
    }
}

extension StepState {
    /// True if its last attempt failed, and another one is to come.
    fileprivate var isFailing: Bool {
        guard case .waiting(let attempt, _, let reason) = self else { return false }
        return attempt.failures + attempt.noResponseCount > 0 || reason.kind == .noAnswer
    }
}

extension OwnedJob {
    /// Returns what its last owner said of why it let the job go; nil when it said nothing.
    func suspensionDetail(in journal: Workspace.Journal) async throws -> String? {
        let events = try await journal.events(of: snapshot.record.id, after: max(0, snapshot.sequence - 8))
        return events.suspensionDetail
    }

    /// What its last owner did not know of its document, and what to do about that.
    func extensionAdvice(in journal: Workspace.Journal) async throws -> String {
        let said = try await suspensionDetail(in: journal)
        return [said, "install the plugin, or start the background owner of the program that has the stage kind"]
            .compactMap { $0 }.joined(separator: "; ")
    }
}
