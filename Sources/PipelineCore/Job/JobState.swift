/// The law of a job: what follows from each thing that reaches it, as commands for an executor.
///
/// Inputs go in, commands come out; time, randomness and the values of expressions are arguments. It alone edits steps
/// (in ``JobTable``) and keeps by indexes what is pending, due, failed or held back, so that an input costs the same in
/// a job of ten steps and of ten thousand. Its parts are values with a state of their own: the items of repeated
/// stages (``FanOut``), fresh captures (``Renewal``), the rules of the background (``BackgroundRules``), notifications
/// (``NotificationQueue``), and what estimates remember (``EstimateMarks``).
///
/// An executor takes in all that has come, then asks with ``JobInput/advance`` until the answer is to wait, to park or
/// to finish. Commands are done in one order: what is to be committed is on disk before anything is acted on, and is
/// published after that. A crash between any two leaves the job as it was last committed; a new law made from that
/// goes on.
package struct JobState: Sendable {
    package var table: JobTable
    var rules: BackgroundRules
    /// The memory for estimates.
    package var marks: EstimateMarks
    var notifications: NotificationQueue
    var fanOut = FanOut()
    /// The calls under way.
    var calls: [StepKey: OpenCall] = [:]
    /// Running steps whose stage is to be called: at once again, or for the first time.
    var continuing: Set<StepKey> = []
    /// Stages of which something is being found out: nothing more is decided on them before that is known.
    private var asked: Set<String> = []
    /// Set once everything is to stop.
    var stop: StopRequest?
    package private(set) var settings: JobSettings
    var commands: [JobCommand] = []

    package init(_ table: JobTable, settings: JobSettings, watch: ResumeWatch = ResumeWatch(), marks: EstimateMarks) {
        self.table = table
        self.settings = settings
        rules = BackgroundRules(
            watch: watch, interactivity: settings.interactivity, hasLimiter: settings.hasLimiter)
        self.marks = marks
        notifications = NotificationQueue(table, hasSinks: settings.hasSinks)
    }

    var now: Timestamp { table.moment.time }
    package var snapshot: JobSnapshot { table.snapshot }
    /// The knowledge of getting control back.
    package var watch: ResumeWatch { rules.watch }

    /// Returns what follows from the input. Throws only for a mistake of ours.
    package mutating func apply(_ input: JobInput, at moment: JobMoment) throws(IllegalTransition) -> [JobCommand] {
        try begin(at: moment)
        switch input.redacted(by: moment.redactor) {
        case .created(let begins): create(begins: begins)
        case .takenUp(let mode, let scope, let lost): try takeUp(mode, scope, lost: lost)
        case .advance: try advance()
        case .found(let finding): try take(finding)
        case .ended(let key, let end, let notes, let random): try take(end, of: key, notes, random: random)
        case .saved(let key, let report, let notes): save(report, of: key, notes)
        case .heard(let key, let notes):
            marks.note(notes, of: key)
            notifications.mayHaveMoved = true
        case .authenticates(let key): commands.append(rules.enterAuthentication(of: key, in: &table))
        case .delivered(let id, let result, let random):
            let isOver = snapshot.ended != nil || isStopped
            notifications.delivered(id, result, random: random, isOver: isOver, in: &table)
        case .delaysReset(let pipeline): if pipeline == snapshot.record.pipeline { rules.watch.heldUntil = nil }
        case .inbox(let inbox):
            table.receive(inbox.pushes)
            switch inbox.request {
            case .cancel: begin(.cancel)
            case .pause: begin(.suspend(.paused))
            case nil: break
            }
        case .stop(let request): begin(request)
        case .notify: commands += notifications.takeDue(table).map(JobCommand.deliver)
        case .secretMissing(let sentence):
            if !isOver() { commands += try JobEnding.letGo(.secret, detail: sentence, in: &table) }
        case .resolved(let key, let resolution): try resolution.perform(on: key, in: &table)
        case .removal: commands += snapshot.workLeft(in: table.plan).map(JobCommand.cancelAtService)
        case .broken(let key, let failure): try failBroken(key, failure)
        }
        notifications.follow(&table)
        let (changes, mayWait) = table.takeChanges()
        defer { commands = [] }
        return changes.isEmpty ? commands : [.commit(changes, mayWait: mayWait)] + commands
    }

    /// Has the job parked once all that is left is a wait of at least that length; nil for never.
    package mutating func park(after length: Duration?) { settings.parking = length }

    /// The answer to whether a person waits for the command that runs it.
    package var interactivity: Interactivity { settings.interactivity }

    /// Before this it must go on, because something expires; nil for no such time.
    package mutating func mustActBefore() -> Timestamp? { table.mustActBefore() }

    /// True if a sink has a notification in its hands.
    package var isDelivering: Bool { !notifications.sending.isEmpty }

    /// True if its owner wants to be rid of it.
    package var isStopped: Bool { stop != nil && stop != .cancel && stop != .abandon }

    // MARK: Beginning

    private mutating func create(begins: Bool) {
        table.publish(.jobStarted, settings.interactivity.data(snapshot.mode))
        guard begins, !rules.isUnattended(table) else { return }
        for stage in table.plan.stages where stage.beginsWithJob {
            if case .begin(let key) = decision(on: stage.id) { commands.append(.prepare(key)) }
        }
    }

    private mutating func takeUp(_ mode: JobMode, _ scope: RestartScope, lost: [WrittenFile]) throws(IllegalTransition)
    {
        try makeUpForClock()
        let wasHeld = Interactivity.unattended.isHeld(by: table.plan.definition.background, mode: snapshot.mode)
        let wasInBackground = snapshot.mode == .background
        try Restart(scope, lost: lost, of: table).perform(mode, in: &table)
        table.publish(.jobResumed, settings.interactivity.data(mode))
        if mode == .attached, settings.interactivity == .attended, wasHeld {
            commands.append(rules.attended(isJournaled: wasInBackground, in: table))
        }
        // Steps that a person wants tried afresh are no restart of what was under way.
        if scope == .nothing, let key = Restart.firstStep(of: table, decision: { decision(on: $0) }) {
            openResume(key, .restart)
        }
    }

    // MARK: Advancing

    private mutating func advance() throws(IllegalTransition) {
        asked = []
        if watch.isHeldBack, rules.isUnattended(table), table.moment.isWatched {
            rules.watch.release()
            for stage in table.plan.stages + table.plan.finally { table.withIndex { $0.look(at: stage.id) } }
            return commands.append(rules.attended(isJournaled: false, in: table))
        }
        if stop == nil {
            try keepDeadlines()
            if enterResume() { return }
            for key in continuing.sorted() { call(key) }
            continuing = []
            if try decide() { return }
        }
        if calls.isEmpty, stop != nil || !watch.isHeldBack, try end() { return }
        notifications.expect(&table, marks, watch)
        if stop == nil { commands += notifications.takeDue(table).map(JobCommand.deliver) }
        rules.watch.settle()
        rest()
    }

    /// Says until when there is nothing to do.
    private mutating func rest() {
        guard stop == nil else { return commands.append(.wait(until: nil)) }
        let wake = watch.next(table.withIndex { $0.nextWake() }, at: now)
        let time = [wake, table.nextDeadline(), notifications.next(at: now)].compactMap { $0 }.min()
        let canPark = calls.isEmpty && notifications.sending.isEmpty
        if let parking = settings.parking, canPark, table.waits(until: time, atLeast: parking) {
            commands.append(.park(until: time))
        } else {
            commands.append(.wait(until: time))
        }
    }

    /// Stops calls whose deadline has passed, and ends steps whose deadline passed while they waited. Each is met once:
    /// a call that takes its time to stop is not asked again.
    private mutating func keepDeadlines() throws(IllegalTransition) {
        for key in table.takeOverdue() {
            switch table.step(key)?.state {
            case .running: if calls[key] != nil { commands.append(.stop(key)) }
            case .waiting: try endOverdue(key)
            case .pending, .unknown, .succeeded, .failed, .cancelled, .skipped, nil: break
            }
        }
    }

    /// Does what can be done now; true when something must be found out before more is.
    private mutating func decide() throws(IllegalTransition) -> Bool {
        for (key, time) in watch.conditions where time <= now { table.withIndex { $0.look(at: key.stage) } }
        let due = table.withIndex { [now] in $0.dueSteps(at: now) }
        if due.isEmpty, !hasDecision {
            // Where nothing can begin any more, after a failure for instance, nothing is held back: the job ends.
            if watch.conditions.isEmpty || !table.index.isWanted { rules.watch.release() }
            return false
        }
        if let held = watch.heldUntil {
            guard held <= now else { return false }
            rules.watch.heldUntil = nil
        }
        if !watch.isOpen, let key = due.first, let reason = table.resumeReason(of: key) {
            openResume(key, reason)
            if enterResume() { return true }
        }
        for key in due { try wake(key) }
        while try decideOnce() {}
        return commands.contains(where: \.isQuestion)
    }

    /// Returns what the stage can do now; nil for nothing.
    private func decision(on id: String) -> StageDecision? {
        StageDecision.make(
            on: id, in: table, fanOut,
            isQuiet: watch.conditions.isEmpty && !commands.contains(where: \.isQuestion))
    }

    /// True if a stage has something to do now; those that have not are not looked at again.
    var hasDecision: Bool {
        mutating get {
            for id in table.index.stagesToDecide {
                if decision(on: id) != nil { return true }
                table.withIndex { $0.looked(at: id) }
            }
            return false
        }
    }

    /// Decides on the stages that have something new; false when there was none.
    private mutating func decideOnce() throws(IllegalTransition) -> Bool {
        var hasDecided = false
        for id in table.index.stagesToDecide where !asked.contains(id) {
            guard let decision = decision(on: id) else {
                table.withIndex { $0.looked(at: id) }
                continue
            }
            hasDecided = true
            let questions = commands.count
            defer { if commands[questions...].contains(where: \.isQuestion) { asked.insert(id) } }
            table.withIndex { $0.looked(at: id) }
            switch decision {
            case .begin(let key): prepare(key)
            case .skip(let key): try table.change(key, .skipped)
            case .expand: expand(StepKey(stage: id))
            case .gather: try gather(id)
            case .beginItems(let count):
                for _ in 0..<count {
                    guard let item = table.withIndex({ $0.popReady(of: id) }) else { break }
                    prepare(StepKey(stage: id, item: item))
                }
            }
        }
        return hasDecided
    }

    /// Returns whether nothing of the job is left to do but to end it.
    package mutating func isOver() -> Bool {
        guard case .ended = table.rest else { return stop == .abandon }
        return stop == .abandon || table.withIndex { [now] in $0.dueSteps(at: now) }.isEmpty && !hasDecision
    }
}
