import JSONPath
package import PipelineCore
import Synchronization

/// Runs jobs side by side: as many at a time as it may, those that only wait parked.
///
/// One serves every program that runs jobs: one job of a command, all that are suspended, and those of the background
/// owner. A parked job is a lease and a time here, some hundred bytes, and rows in the journal; one timer wakes all of
/// them. It works through one inbox, in the task that runs ``run()``.
package actor JobScheduler {
    /// The bounds of the work.
    package struct Limits: Sendable {
        /// The number of jobs that are run at a time; others that are due wait in their order.
        package var concurrency = 256
        /// The number of jobs that are being read from the journal and planned at a time: that keeps a processor busy,
        /// and more at a time only take memory, which lies about between what stays.
        package var openings = 8
        /// A job whose only work is a wait of at least that length is parked; nil parks none.
        package var parking: Duration? = .seconds(2)
        /// The time after a suspension without a person's doing (no network) at which a job is taken up again; nil
        /// leaves it, and the notifications that could not be sent, to the next owner.
        package var retakeInterval: Duration? = .seconds(300)
        /// The time after which a job is taken up again when the journal refused a write of it; it doubles with each
        /// refusal, up to ``retakeInterval``, without which it is left as well.
        package var refusalInterval = Duration.seconds(5)
        /// The time by which a job may be woken late to be woken together with others.
        package var slack = Duration.seconds(1)

        package init() {}

        /// The limits of a command that stays with its jobs until each has come to rest.
        package static func command(concurrency: Int, parking: Duration? = .seconds(2)) -> Limits {
            var limits = Limits()
            limits.concurrency = concurrency
            limits.parking = parking
            limits.retakeInterval = nil
            return limits
        }
    }

    enum Message: Sendable {
        case adopt(Engine.JobHandle)
        case take(JobID)
        case knock(JobID)
        case refused(JobID)
        case attention(OwnerSignal)
        case opened(Engine.JobHandle)
        case notOpened
        case ended(JobID, Result<JobEnd?, JournalFailure>, ParkedJob?, again: Timestamp?)
        case tick(Timestamp)
        case close
        /// Nil leaves the jobs to the next owner.
        case stop(SuspensionCause?)
    }

    struct Entry {
        /// The memory to go on with; nil while this process does not own the job.
        var parked: ParkedJob?
        /// Nil while it is parked.
        var activity: Activity?
        /// How often in a row it came to an end because the journal refused a write of it.
        var refusals = 0
        /// True if something came for it since it was opened.
        var isKnocked = false
        /// The signals of those who attended while it was being opened.
        var attentions: [OwnerSignal] = []
    }

    enum Activity {
        case queued, opening
        /// Of thousands of jobs few are: what parked ones take is kept small.
        indirect case driven(Engine.JobHandle)
    }

    nonisolated private let counted = Mutex(Counts())
    nonisolated private let mailbox = Mailbox<Message>()
    private let jobs: any JobSource
    private let clock: any WallClock
    private let limits: Limits
    var entries: [JobID: Entry] = [:]
    var queue = WakeQueue()
    private var ready: [JobID] = []
    /// True if something expires of a job that has become ready since they were last put in order.
    private var isPressed = false
    private var drives = 0
    private var openings = 0
    private var timer: (time: Timestamp, timer: CancellableTimer)?
    /// The reading of the clock when the last message came.
    private var reading: ClockReading
    /// True if no further jobs come: then it works until none is left.
    private var isClosed = false
    private var stopping: Stop?

    fileprivate enum Stop: Sendable {
        case leave
        case suspend(SuspensionCause)
    }

    package init(_ jobs: any JobSource, clock: any WallClock, limits: Limits = Limits()) {
        self.jobs = jobs
        self.clock = clock
        reading = clock.reading
        self.limits = limits
    }

    /// Runs a job that this process has just begun. From any thread, as all that follows.
    package nonisolated func adopt(_ drive: Engine.JobHandle) { mailbox.post(.adopt(drive)) }
    /// Takes a job up that nobody owns, if its source gives it.
    package nonisolated func take(_ job: JobID) { mailbox.post(.take(job)) }
    /// Something came for the job: a request or a push stands in the journal. A background owner takes up once more what
    /// came to rest meanwhile, if its source gives it.
    package nonisolated func knock(_ job: JobID) { mailbox.post(.knock(job)) }
    /// The journal refused a write of a job that its source runs without a scheduler, as a batch: it is taken up again soon,
    /// as others of which a write was refused.
    package nonisolated func retake(_ job: JobID) { mailbox.post(.refused(job)) }
    /// A person attends to jobs: what is held back of them goes on at once.
    package nonisolated func take(_ attention: OwnerSignal) { mailbox.post(.attention(attention)) }
    /// No further jobs come: ``run()`` returns once all have come to rest.
    package nonisolated func close() { mailbox.post(.close) }
    /// Lets all jobs go, so that the next owner goes on; ``run()`` returns once their stages have stopped.
    package nonisolated func stop() { mailbox.post(.stop(nil)) }
    /// Suspends all jobs that were taken up, parked ones too, and takes up no others; ``run()`` returns once their
    /// stages have stopped.
    package nonisolated func suspend(_ cause: SuspensionCause) { mailbox.post(.stop(cause)) }

    /// The numbers of jobs that are here and that are run, as of the last message.
    package nonisolated var counts: Counts { counted.withLock { $0 } }

    /// The amount of work that a scheduler has.
    package struct Counts: Sendable, Hashable {
        package var jobs = 0
        package var driven = 0
    }

    /// Works until it is stopped, or closed and no job is left.
    package func run() async {
        await withDiscardingTaskGroup { group in
            while !isDone {
                receive(await mailbox.next(), &group)
                for message in mailbox.takeAll() { receive(message, &group) }
                openReady(&group)
                armTimer(&group)
                let counts = Counts(jobs: entries.count, driven: drives)
                counted.withLock { $0 = counts }
            }
            timer?.timer.stop()
        }
    }

    private var isDone: Bool {
        drives == 0 && ready.isEmpty && (stopping != nil || isClosed && entries.isEmpty)
    }

    private func receive(_ message: Message, _ group: inout DiscardingTaskGroup) {
        // As with the state of a job: see its executor.
        preconditionIsolated()
        checkClock()
        switch message {
        case .adopt(let drive):
            entries[drive.job] = Entry(activity: .opening)
            drives += 1
            openings += 1
            group.addTask { await self.work(drive.job) { () throws(JournalFailure) in drive } }
        case .take(let job):
            guard entries[job] == nil else { return }
            add(job)
        case .knock(let job): knocked(job)
        case .refused(let job): if entries[job] == nil { retakeRefused(job, after: 0) }
        case .attention(let attention): attended(attention)
        case .opened(let drive): opened(drive)
        case .notOpened: openings -= 1
        case .ended(let job, let result, let parked, let again): ended(job, result, parked, again)
        case .tick(let time):
            if timer?.time == time { timer = nil }
            for job in queue.takeDue(at: clock.now) { enqueue(job) }
        case .close: isClosed = true
        case .stop(let cause): stopAll(cause.map(Stop.suspend) ?? .leave)
        }
    }

    /// After the clock was set each parked job is woken, to see what that changes of its times.
    private func checkClock() {
        let now = clock.reading
        defer { reading = now }
        guard now.shift(since: reading) != nil else { return }
        timer?.timer.stop()
        timer = nil
        for (job, entry) in entries where entry.activity == nil {
            queue.put(job, earliest: now.time, latest: now.time)
        }
    }

    // MARK: From waiting to work

    private func add(_ job: JobID) {
        guard stopping == nil, !isClosed else { return }
        entries[job] = Entry()
        enqueue(job)
    }

    private func knocked(_ job: JobID) {
        guard let entry = entries[job] else {
            // What asked a command's job to pause may be heard once more after it has.
            if limits.retakeInterval != nil { add(job) }
            return
        }
        switch entry.activity {
        case .driven(let drive): drive.checkInbox()
        case .opening, .queued: break
        case nil:
            queue.remove(job)
            return enqueue(job)
        }
        entries[job]?.isKnocked = true
    }

    /// Has the job run as soon as there is room for it.
    func enqueue(_ job: JobID) {
        guard stopping == nil, entries[job] != nil else { return }
        entries[job]?.activity = .queued
        ready.append(job)
        if entries[job]?.parked?.mustActBefore != nil { isPressed = true }
    }

    private func openReady(_ group: inout DiscardingTaskGroup) {
        let room = min(limits.concurrency - drives, limits.openings - openings, ready.count)
        guard room > 0 else { return }
        if isPressed, room < ready.count { putPressedFirst() }
        isPressed = false
        for job in ready.prefix(room) {
            guard let entry = entries[job] else { continue }
            entries[job]?.activity = .opening
            entries[job]?.isKnocked = false
            drives += 1
            openings += 1
            group.addTask { [jobs, stopping] in
                await self.work(job) { () throws(JournalFailure) in
                    guard let parked = entry.parked else { return try await jobs.takeUp(job) }
                    let drive = try await jobs.unpark(parked)
                    if let stopping { drive.obey(stopping) }
                    return drive
                }
            }
        }
        ready.removeFirst(room)
    }

    /// Where not all that are due may be driven, those of which something expires come first, the earliest before all.
    private func putPressedFirst() {
        func limit(_ job: JobID) -> Timestamp? { entries[job]?.parked?.mustActBefore }
        let pressed = ready.enumerated().compactMap { place, job in limit(job).map { (limit: $0, place: place) } }
        guard !pressed.isEmpty else { return }
        let first = pressed.sorted { ($0.limit, $0.place) < ($1.limit, $1.place) }.map { ready[$0.place] }
        ready = first + ready.filter { limit($0) == nil }
    }

    private nonisolated func work(
        _ job: JobID, _ open: @Sendable () async throws(JournalFailure) -> Engine.JobHandle?
    ) async {
        let result: Result<JobEnd?, JournalFailure>
        var parked: ParkedJob?
        var again: Timestamp?
        var snapshot: JobSnapshot?
        var isOpen = false
        do throws(JournalFailure) {
            if let drive = try await open() {
                isOpen = true
                mailbox.post(.opened(drive))
                let end = try await drive.run(parking: limits.parking)
                snapshot = await drive.snapshot
                if case .parked = end { parked = await drive.parked } else { again = snapshot?.nextTelling }
                result = .success(end)
            } else {
                result = .success(nil)
            }
        } catch {
            result = .failure(error)
        }
        switch result {
        case .success(let end?): await jobs.ended(job, .success(end), as: snapshot)
        case .failure(let failure): await jobs.ended(job, .failure(failure), as: snapshot)
        case .success(nil): break
        }
        if !isOpen { mailbox.post(.notOpened) }
        mailbox.post(.ended(job, result, parked, again: again))
    }

    private func opened(_ drive: Engine.JobHandle) {
        openings -= 1
        entries[drive.job]?.activity = .driven(drive)
        if entries[drive.job]?.isKnocked == true { drive.checkInbox() }
        for attention in entries[drive.job]?.attentions ?? [] { drive.take(attention) }
        entries[drive.job]?.attentions = []
        if let stopping { drive.obey(stopping) }
    }

    // MARK: From work to waiting

    private func ended(
        _ job: JobID, _ result: Result<JobEnd?, JournalFailure>, _ parked: ParkedJob?, _ again: Timestamp?
    ) {
        drives -= 1
        guard let entry = entries[job] else { return }
        let hasNews = entry.isKnocked && limits.retakeInterval != nil
        switch result {
        case .success(.parked(let time)):
            entries[job]?.activity = nil
            entries[job]?.parked = parked
            entries[job]?.refusals = 0
            if case .suspend? = stopping {
                reopen(job)
            } else if entry.isKnocked {
                enqueue(job)
            } else if let time {
                park(job, until: time, slack: limits.slack)
            }
        case .success where hasNews, .failure where hasNews:
            entries[job] = nil
            add(job)
        // Nobody owns it now. It is tried again later, by the rules for jobs that nobody owns.
        case .success(.suspended(.noNetwork)): retake(job, at: limits.retakeInterval.map { clock.now + $0 })
        case .failure(let failure) where failure.mayPass: retakeRefused(job, after: entry.refusals)
        // What the journal could not let go of yet is this owner's still.
        case .failure(.owned) where entry.refusals > 0: retakeRefused(job, after: entry.refusals)
        // Somebody may still have to be told of it.
        case .success, .failure: retake(job, at: limits.retakeInterval == nil ? nil : again)
        }
    }

    /// Takes a job up again that the journal refused a write of, after so many refusals before.
    private func retakeRefused(_ job: JobID, after refusals: Int) {
        let interval = limits.refusalInterval * (1 << min(refusals, 16))
        retake(job, at: limits.retakeInterval.map { clock.now + min($0, interval) })
        entries[job]?.refusals = refusals + 1
    }

    /// Forgets a job that is not owned here any more, or takes it up again at a time.
    private func retake(_ job: JobID, at time: Timestamp?) {
        entries[job] = nil
        guard let time else { return }
        entries[job] = Entry()
        park(job, until: time, slack: limits.slack)
    }

    private func park(_ job: JobID, until time: Timestamp, slack: Duration) {
        guard entries[job] != nil else { return }
        entries[job]?.activity = nil
        // A wait of seconds is not stretched by one: at most a tenth.
        let tenth = Duration.seconds(max(0, (time - clock.now).seconds) / 10)
        queue.put(job, earliest: time, latest: time + min(slack, tenth))
    }

    private func armTimer(_ group: inout DiscardingTaskGroup) {
        guard stopping == nil, let time = queue.nextTime() else { return }
        if let timer, timer.time <= time { return }
        timer?.timer.stop()
        let next = CancellableTimer()
        timer = (time, next)
        group.addTask { [mailbox, clock] in
            if await next.sleep(until: time, by: clock) { mailbox.post(.tick(time)) }
        }
    }

    private func stopAll(_ stop: Stop) {
        stopping = stop
        timer?.timer.stop()
        ready = []
        for (job, entry) in entries {
            switch entry.activity {
            case .driven(let drive): drive.obey(stop)
            case .opening: break
            case .queued, nil: if case .suspend = stop { reopen(job) }
            }
        }
    }

    /// Has a parked job run once more, to suspend it: what that takes only its own law knows.
    private func reopen(_ job: JobID) {
        guard entries[job]?.parked != nil else { return }
        queue.remove(job)
        entries[job]?.activity = .queued
        ready.append(job)
    }
}

extension Engine.JobHandle {
    fileprivate func obey(_ stop: JobScheduler.Stop) {
        switch stop {
        case .leave: leave()
        case .suspend(let cause): suspend(cause)
        }
    }
}
