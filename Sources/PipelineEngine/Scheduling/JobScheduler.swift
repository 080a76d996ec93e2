import JSONPath
public import PipelineCore
import Synchronization

/// Drives the jobs of a background owner: as many at a time as have something to do, the others parked.
///
/// A parked job is a lease and a time here, some hundred bytes, and rows in the journal; one timer wakes all of them.
/// It works through one inbox, in the task that runs ``run()``.
public actor JobScheduler {
    /// What bounds the work.
    public struct Limits: Sendable {
        /// How many jobs are driven at a time; others that are due wait in their order.
        public var drives = 256
        /// How many are being read from the journal and planned at a time: that keeps a processor busy, and more at a time
        /// only take memory, which lies about between what stays.
        public var openings = 8
        /// A wait shorter than this keeps its driver.
        public var parking = Duration.seconds(2)
        /// How long after a suspension without a person's doing (no network) a job is taken up again.
        public var rest = Duration.seconds(300)
        /// How late a job may be woken to be woken together with others.
        public var slack = Duration.seconds(1)

        public init() {}
    }

    enum Message: Sendable {
        case adopt(Engine.JobHandle)
        case take(JobID)
        case knock(JobID)
        case attention(OwnerSignal)
        case opened(Engine.JobHandle)
        case notOpened
        case ended(JobID, Result<JobEnd?, JournalFailure>, ParkedJob?, again: Timestamp?)
        case admitted(JobID, ResumeOccasion, ResumeAdmission)
        case tick(Timestamp)
        case stop
    }

    struct Standing {
        /// What to go on with; nil while this process does not own the job.
        var parked: ParkedJob?
        /// Nil while it is parked.
        var activity: Activity?
        /// Whether something came for it since it was opened.
        var isKnocked = false
        /// Who attended while it was being opened.
        var attentions: [OwnerSignal] = []
    }

    enum Activity {
        case asking, queued, opening
        case driven(Engine.JobHandle)
    }

    nonisolated private let counted = Mutex(Counts())
    nonisolated private let mailbox = Mailbox<Message>()
    private let jobs: any BackgroundJobs
    private let clock: any WallClock
    private let limits: Limits
    var standings: [JobID: Standing] = [:]
    var queue = WakeQueue()
    private var ready: [JobID] = []
    private var drives = 0
    private var openings = 0
    private var alarm: (time: Timestamp, alarm: CancellableTimer)?
    /// What the clock showed when the last message came.
    private var reading: ClockReading
    private var isStopping = false

    public init(_ jobs: any BackgroundJobs, clock: any WallClock, limits: Limits = Limits()) {
        self.jobs = jobs
        self.clock = clock
        reading = clock.reading
        self.limits = limits
    }

    /// Drives a job that this process has just begun. From any thread, as all that follows.
    public nonisolated func adopt(_ drive: Engine.JobHandle) { mailbox.post(.adopt(drive)) }
    /// Takes a job up that nobody owns, if it is one of the background's.
    public nonisolated func take(_ job: JobID) { mailbox.post(.take(job)) }
    /// Something came for the job: a request or a push stands in the journal.
    public nonisolated func knock(_ job: JobID) { mailbox.post(.knock(job)) }
    /// A person attends to jobs: what is held back of them goes on at once.
    public nonisolated func take(_ attention: OwnerSignal) { mailbox.post(.attention(attention)) }
    /// Lets all jobs go, so that the next owner goes on; ``run()`` returns once their stages have stopped.
    public nonisolated func stop() { mailbox.post(.stop) }

    /// How many jobs are here, and how many of them are driven, as of the last message.
    public nonisolated var counts: Counts { counted.withLock { $0 } }

    /// What a scheduler has to do.
    public struct Counts: Sendable, Hashable {
        public var jobs = 0
        public var driven = 0
    }

    /// Works until ``stop()``.
    public func run() async {
        await withDiscardingTaskGroup { group in
            while !(isStopping && drives == 0) {
                receive(await mailbox.next(), &group)
                for message in mailbox.takeAll() { receive(message, &group) }
                openReady(&group)
                armTimer(&group)
                let counts = Counts(jobs: standings.count, driven: drives)
                counted.withLock { $0 = counts }
            }
            alarm?.alarm.stop()
        }
    }

    private func receive(_ message: Message, _ group: inout DiscardingTaskGroup) {
        checkClock()
        switch message {
        case .adopt(let drive):
            standings[drive.job] = Standing(activity: .opening)
            drives += 1
            openings += 1
            group.addTask { await self.work(drive.job) { () throws(JournalFailure) in drive } }
        case .take(let job):
            guard standings[job] == nil, !isStopping else { return }
            standings[job] = Standing()
            ask(job, .start, &group)
        case .knock(let job): knocked(job, &group)
        case .attention(let attention): attended(attention, &group)
        case .opened(let drive): opened(drive)
        case .notOpened: openings -= 1
        case .ended(let job, let result, let parked, let again): ended(job, result, parked, again, &group)
        case .admitted(let job, _, .now): if standings[job] != nil { enqueue(job) }
        case .admitted(let job, _, .notBefore(let time)): park(job, until: time, slack: .zero)
        case .tick(let time):
            if alarm?.time == time { alarm = nil }
            for job in queue.takeDue(at: clock.now) {
                ask(job, standings[job]?.parked == nil ? .start : .timer, &group)
            }
        case .stop: stopAll()
        }
    }

    /// After the clock was set each parked job is woken, to see what that changes of its times.
    private func checkClock() {
        let now = clock.reading
        defer { reading = now }
        guard now.shift(since: reading) != nil else { return }
        alarm?.alarm.stop()
        alarm = nil
        for (job, standing) in standings where standing.activity == nil {
            queue.put(job, earliest: now.time, latest: now.time)
        }
    }

    // MARK: From waiting to work

    private func knocked(_ job: JobID, _ group: inout DiscardingTaskGroup) {
        guard let standing = standings[job] else {
            if isStopping { return }
            standings[job] = Standing()
            return ask(job, .start, &group)
        }
        switch standing.activity {
        case .driven(let drive): drive.checkInbox()
        case .opening, .queued, .asking: break
        case nil:
            queue.remove(job)
            return ask(job, .knock, &group)
        }
        standings[job]?.isKnocked = true
    }

    func ask(_ job: JobID, _ occasion: ResumeOccasion, _ group: inout DiscardingTaskGroup) {
        guard !isStopping, standings[job] != nil else { return }
        standings[job]?.activity = .asking
        let now = clock.now
        group.addTask { [jobs, mailbox] in
            mailbox.post(.admitted(job, occasion, await jobs.admit(job, occasion, at: now)))
        }
    }

    private func enqueue(_ job: JobID) {
        standings[job]?.activity = .queued
        ready.append(job)
    }

    private func openReady(_ group: inout DiscardingTaskGroup) {
        guard !isStopping else { return }
        let room = min(limits.drives - drives, limits.openings - openings, ready.count)
        guard room > 0 else { return }
        if room < ready.count { putPressedFirst() }
        for job in ready.prefix(room) {
            guard let standing = standings[job] else { continue }
            standings[job]?.activity = .opening
            standings[job]?.isKnocked = false
            drives += 1
            openings += 1
            group.addTask { [jobs] in
                await self.work(job) { () throws(JournalFailure) in
                    if let parked = standing.parked { return try await jobs.unpark(parked) }
                    return try await jobs.takeUp(job)
                }
            }
        }
        ready.removeFirst(room)
    }

    /// Where not all that are due may be driven, those of which something expires come first, the earliest before all.
    private func putPressedFirst() {
        func limit(_ job: JobID) -> Timestamp? { standings[job]?.parked?.mustActBefore }
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
        var isOpen = false
        do throws(JournalFailure) {
            if let drive = try await open() {
                isOpen = true
                mailbox.post(.opened(drive))
                let end = try await drive.run(parking: limits.parking)
                if case .parked = end { parked = await drive.parked } else { again = await drive.nextNotification }
                result = .success(end)
            } else {
                result = .success(nil)
            }
        } catch {
            result = .failure(error)
        }
        if case .success(let end?) = result { await jobs.ended(job, .success(end)) }
        if case .failure(let failure) = result { await jobs.ended(job, .failure(failure)) }
        if !isOpen { mailbox.post(.notOpened) }
        mailbox.post(.ended(job, result, parked, again: again))
    }

    private func opened(_ drive: Engine.JobHandle) {
        openings -= 1
        standings[drive.job]?.activity = .driven(drive)
        if standings[drive.job]?.isKnocked == true { drive.checkInbox() }
        for attention in standings[drive.job]?.attentions ?? [] { drive.take(attention) }
        standings[drive.job]?.attentions = []
        if isStopping { drive.leave() }
    }

    // MARK: From work to waiting

    private func ended(
        _ job: JobID, _ result: Result<JobEnd?, JournalFailure>, _ parked: ParkedJob?, _ again: Timestamp?,
        _ group: inout DiscardingTaskGroup
    ) {
        drives -= 1
        guard let standing = standings[job] else { return }
        switch result {
        case .success(.parked(let time)):
            standings[job]?.activity = nil
            standings[job]?.parked = parked
            if standing.isKnocked {
                ask(job, .knock, &group)
            } else if let time {
                park(job, until: time, slack: limits.slack)
            }
        case .success(.suspended(.noNetwork)), .failure(.busy), .failure(.full), .failure(.damaged),
            .failure(.notWritable), .failure(.other):
            // Nobody owns it now. It is tried again later, by the rules for jobs that nobody owns.
            standings[job] = Standing()
            park(job, until: clock.now + limits.rest, slack: limits.slack)
        case .success, .failure:
            standings[job] = nil
            // Somebody is still to be told of it.
            if let again {
                standings[job] = Standing()
                park(job, until: again, slack: limits.slack)
            }
        }
    }

    private func park(_ job: JobID, until time: Timestamp, slack: Duration) {
        guard standings[job] != nil else { return }
        standings[job]?.activity = nil
        // A wait of seconds is not stretched by one: at most a tenth.
        let tenth = Duration.seconds(max(0, (time - clock.now).seconds) / 10)
        queue.put(job, earliest: time, latest: time + min(slack, tenth))
    }

    private func armTimer(_ group: inout DiscardingTaskGroup) {
        guard !isStopping, let time = queue.nextTime() else { return }
        if let alarm, alarm.time <= time { return }
        alarm?.alarm.stop()
        let next = CancellableTimer()
        alarm = (time, next)
        group.addTask { [mailbox, clock] in
            if await next.sleep(until: time, by: clock) { mailbox.post(.tick(time)) }
        }
    }

    private func stopAll() {
        isStopping = true
        alarm?.alarm.stop()
        for (_, standing) in standings {
            if case .driven(let drive) = standing.activity { drive.leave() }
        }
    }
}
