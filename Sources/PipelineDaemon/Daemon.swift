import CLibrary
import JSONPath
import Logging
import PipelineCore
import PipelineDashboard
import PipelineEngine
import PipelineKit
import PipelineMetrics
import Synchronization

/// The background owner of a state folder: drives its jobs, wakes them in time, answers on the control socket.
///
/// It is the only one of its folder: the lock of its name in the journal sees to that, and the kernel lets it go when
/// the process ends. All that counts is in the journal; what is only here, secrets, is found or given again.
final class Daemon: Sendable {
    struct Options: Sendable {
        /// The place where pushes are taken, HOST:PORT; nil for loopback and a port that is free.
        var listen: String?
        /// The number of jobs that run at a time; nil for as many as fit.
        var atOnce: Int?
        /// The place where metrics are given out, HOST:PORT; nil for nowhere.
        var metrics: String?
        /// The descriptor at which a starter waits to hear that it listens.
        var readyDescriptor: Int32?
        /// After how long without a job it ends by itself; nil for never.
        var idleLimit: Duration?
        /// Nil without pages.
        var dashboard: DashboardOptions?
    }

    private let settings: Settings
    private let options: Options
    private let log: DaemonLog
    private let manager: ServiceManager
    private let workspace: Workspace
    private let journal: Workspace.Journal
    private let jobs: DaemonJobs
    private let scheduler: JobScheduler
    /// Set on a journal that machines share.
    private let claims: ClaimedJobs?
    /// Nil without a public address: then nobody can know where to push to.
    private let callbacks: CallbackHandler?
    /// On a journal that machines share its own.
    private let clock: any WallClock
    private let pages = Mutex<DashboardService?>(nil)
    /// The number of times that the journal is searched for jobs that lost their owner and told nobody.
    private static let searchInterval = Duration.seconds(300)
    /// How often it looks whether its state folder is still there.
    private static let placeInterval = Duration.seconds(30)

    init(_ workspace: Workspace, log: DaemonLog, options: Options) throws {
        self.workspace = workspace
        settings = workspace.settings
        self.options = options
        manager = ServiceManager(environment: settings.environment)
        journal = try workspace.openBackgroundJournal { [settings] failure in
            log.note(failure.map { "waits for the journal: \(DaemonCommand.sentence($0, settings))" } ?? "goes on")
        }
        let clock = journal.clock
        self.clock = clock
        let named = journal.shared != nil ? log.of(worker: journal.owner.text) : log
        self.log = named
        var secrets = try workspace.secrets()
        if journal.shared != nil { secrets.holder = "worker \(journal.owner.text)" }
        workspace.observeTraces { named.note($0, level: .warning) }
        let engine = try workspace.engine(journal: journal, secrets: secrets) { named.record($0) }
        let plans = PlanCache(workspace)
        var limits = JobScheduler.Limits()
        if let atOnce = options.atOnce { limits.concurrency = atOnce }
        jobs = DaemonJobs(
            journal: journal, engine: engine, secrets: secrets, plans: plans,
            batches: DaemonBatches(workspace, journal, named, clock: clock), concurrency: limits.concurrency,
            clock: clock, log: named)
        if let shared = journal.shared {
            let claims = ClaimedJobs(jobs, shared, atOnce: limits.concurrency, clock: clock)
            scheduler = JobScheduler(claims, clock: clock, limits: limits)
            self.claims = claims
        } else {
            scheduler = JobScheduler(jobs, clock: clock, limits: limits)
            claims = nil
        }
        jobs.run(on: scheduler)
        let seal = try workspace.captureSeal(of: journal)
        callbacks = try workspace.callbackAddresses(of: journal).map { [journal, jobs, clock] addresses in
            CallbackHandler(
                journal: journal, addresses: addresses, plans: plans, jobs: jobs, clock: clock,
                randomness: SystemRandomness(), seal: seal, log: named)
        }
    }

    private var controlAddress: ControlAddress {
        ControlAddress(stateFolder: settings.stateFolder, isWorker: claims != nil)
    }

    /// Nil for a worker that serves no pages, and for one next to another that does: several may share a state folder.
    /// A worker is asked for a link alone, for all else through the journal.
    private func controlServer() throws -> ControlServer? {
        if claims != nil {
            guard pages.withLock({ $0 }) != nil else { return nil }
            if let other = controlAddress.connect() {
                close(other)
                return nil
            }
        }
        return ControlServer(descriptor: try listeningSocket(), answer: { [self] in answer($0) }) { [log] user in
            let name = user.map { "user \($0)" } ?? "a user that the system does not name"
            log.note("a connection of \(name) to the control socket was refused", level: .warning)
        }
    }

    /// Runs until a signal, or until there is nothing to do; throws when it can't begin.
    func run() async throws {
        try await journal.claimName()
        try await claims?.begin()
        let requests = journal.requests(for: journal.owner)
        let attentions = journal.attentions()
        let receiver = try await startReceiver()
        let metrics = try await startMetrics()
        try await startDashboard()
        let control = try controlServer()
        control?.start()
        for number in [SIGPIPE, SIGHUP, SIGXFSZ] { signal(number, SIG_IGN) }
        let (wishes, wish) = AsyncStream<Void>.makeStream()
        let signals = StopSignals { wish.yield() }
        defer { withExtendedLifetime(signals) {} }
        sayReady()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await job in requests {
                    self.jobs.fulfil(job)
                    if !self.jobs.batches.knock(job) { self.scheduler.knock(job) }
                }
            }
            group.addTask { for await attention in attentions { self.scheduler.take(attention) } }
            if let claims {
                group.addTask { await claims.run(for: self.scheduler, self.log) }
            } else {
                group.addTask { await self.searchJournal() }
            }
            group.addTask { await self.endWhenIdle() }
            group.addTask { await self.endWithoutFolder() }
            group.addTask { for await _ in wishes { self.stop() } }
            await scheduler.run()
            await jobs.batches.close()
            group.cancelAll()
        }
        control?.close()
        await receiver?.stop()
        await metrics?.stop()
        await pages.withLock { $0 }?.stop()
        if control != nil, claims != nil || manager.listener == nil { unlink(controlAddress.path) }
        await workspace.finishTraces()
        await journal.close()
        // The jobs are free by now; only the process is still there.
        await workspace.finishTokens()
        log.note("stopped")
    }

    /// Asks everything to stop, and ends the process in any case before a service manager loses its patience: what is
    /// not told to the journal by then is found by the next owner, as after a crash. It gets more time for a refresh token,
    /// which nobody would find.
    private func stop() {
        manager.tell("STOPPING=1")
        log.note("stopping")
        jobs.batches.leave()
        scheduler.stop()
        ForcedExit.exit(after: 4) { [workspace, manager] in
            guard workspace.awaitsToken else { return false }
            manager.tell("EXTEND_TIMEOUT_USEC=5000000")
            return true
        }
    }

    /// The receiver of pushes, where it can be reached: at the address asked for, else at the port of a public address
    /// on this machine, else at a port that is free.
    private func startReceiver() async throws -> ReceiverServer? {
        let address = try ListenAddress(parsing: options.listen ?? loopbackAddress ?? "127.0.0.1:0")
        guard let callbacks else {
            if options.listen != nil {
                log.note("no pushes are taken: services need an address; set PIPELINE_CALLBACK_URL or \"callbackURL\"")
            }
            return nil
        }
        let receiver = try await ReceiverServer.start(
            at: address, isKnown: { await callbacks.isKnown($0) },
            refused: { await callbacks.noteTooLong($0) }, answer: { await callbacks.answer($0) })
        log.note("pushes are taken on \(address.host):\(receiver.port)")
        return receiver
    }

    private func startDashboard() async throws {
        guard let dashboard = options.dashboard else { return }
        let page = MetricsPage(settings: settings, journal: journal)
        let service = try await DashboardService.start(
            workspace, journal: journal, options: dashboard, metrics: page.answer)
        pages.withLock { $0 = service }
        log.note("the pages of the jobs are at \(service.address); 'pipeline dashboard' opens them")
    }

    private func startMetrics() async throws -> MetricsServer? {
        guard let text = options.metrics else { return nil }
        let address = try ListenAddress(parsing: text)
        let server = try await MetricsServer.start(
            at: address, page: MetricsPage(settings: settings, journal: journal))
        log.note("metrics are given out on http://\(address.host):\(server.port)/metrics")
        return server
    }

    private var loopbackAddress: String? {
        let parts = URLReference(settings.callbackURL ?? "")
        guard let authority = parts.authority, authority.hasPrefix("127.0.0.1:") || authority.hasPrefix("localhost:")
        else { return nil }
        return authority.replacing("localhost", with: "127.0.0.1")
    }

    private func listeningSocket() throws -> Int32 {
        if claims == nil, let passed = manager.listener { return passed }
        guard let descriptor = controlAddress.listen() else {
            throw StepFailure("cannot listen on \(controlAddress.path): \(FileContent.reason)")
        }
        return descriptor
    }

    private func sayReady() {
        manager.tell("READY=1\nSTATUS=owning the background jobs of \(settings.stateFolder)")
        log.note("ready, process \(getpid()), jobs in \(settings.stateFolder)")
        guard let descriptor = options.readyDescriptor else { return }
        var byte = UInt8(ascii: "1")
        _ = write(descriptor, &byte, 1)
        close(descriptor)
    }

    private func answer(_ request: ControlRequest) -> JSON {
        switch request {
        case .dashboard:
            return ["link": JSON(pages.withLock { $0 }?.link()), "journal": JSON(settings.journalPlace)]
        case _ where claims != nil: return ["error": "a worker is asked through its journal"]
        case .take(let job, let values, let retriesFailed, let ended):
            jobs.name(job, values, retriesFailed: retriesFailed, ended: ended)
            if !jobs.batches.knock(job) { scheduler.knock(job) }
            return ["taken": .string(job.text)]
        case .lend(let job, let values):
            jobs.lend(job, values)
            return ["lent": .string(job.text)]
        case .status:
            let counts = scheduler.counts
            return [
                "process": .number(JSONNumber(Int(getpid()))), "jobs": .number(JSONNumber(counts.jobs)),
                "driven": .number(JSONNumber(counts.driven)),
            ]
        }
    }

    /// Takes up what nobody owns: at the start, and now and then what a process left that told nobody.
    private func searchJournal() async {
        while !Task.isCancelled {
            do throws(JournalFailure) {
                for job in try await journal.backgroundJobs(at: clock.now) { scheduler.take(job) }
                for job in try await journal.untoldJobs() { scheduler.take(job) }
                try await jobs.forgetLent()
            } catch {
                log.note("the journal can't be searched: \(error)", level: .error)
            }
            guard (try? await clock.sleep(until: clock.now + Self.searchInterval)) != nil else { return }
        }
    }

    /// Ends the process once its state folder is gone: what it would write nobody would find, and its control socket is gone
    /// as well.
    private func endWithoutFolder() async {
        while (try? await clock.sleep(until: clock.now + Self.placeInterval)) != nil {
            guard journal.hasMoved else { continue }
            log.note("the state folder \(settings.stateFolder) was moved or removed while it was in use", level: .error)
            return stop()
        }
    }

    private func endWhenIdle() async {
        guard let limit = options.idleLimit else { return }
        var since = clock.elapsed
        while (try? await clock.sleep(until: clock.now + .seconds(60))) != nil {
            if scheduler.counts.jobs > 0 || !jobs.batches.isEmpty { since = clock.elapsed }
            if clock.elapsed - since >= limit { return scheduler.stop() }
        }
    }
}
