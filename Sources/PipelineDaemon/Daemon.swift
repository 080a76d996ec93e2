import Glibc
import JSONPath
import Logging
import PipelineCore
import PipelineEngine
import PipelineKit
import PipelineMetrics

/// The background owner of a state folder: drives its jobs, wakes them in time, answers on the control socket.
///
/// It is the only one of its folder: the lock of its name in the journal sees to that, and the kernel lets it go when
/// the process ends. All that counts is in the journal; what is only here, secrets, is found or given again.
final class Daemon: Sendable {
    struct Options: Sendable {
        /// Where pushes are taken, HOST:PORT; nil for loopback and a port that is free.
        var listen: String?
        /// Where metrics are given out, HOST:PORT; nil for nowhere.
        var metrics: String?
        /// Where a starter waits to hear that it listens.
        var readyDescriptor: Int32?
        /// After how long without a job it ends by itself; nil for never.
        var idleLimit: Duration?
    }

    private let settings: Settings
    private let options: Options
    private let log: DaemonLog
    private let manager: ServiceManager
    private let workspace: Workspace
    private let journal: Workspace.Journal
    private let jobs: DaemonJobs
    private let scheduler: JobScheduler
    /// Nil without a public address: then nobody can know where to push to.
    private let desk: CallbackHandler?
    private let clock = SystemClock()
    /// How often the journal is searched for jobs that lost their owner and told nobody.
    private static let searchInterval = Duration.seconds(300)

    init(settings: Settings, log: DaemonLog, options: Options) throws {
        self.settings = settings
        self.options = options
        self.log = log
        manager = ServiceManager(environment: settings.environment)
        workspace = Workspace(settings: settings)
        journal = try workspace.openBackgroundJournal()
        let secrets = try workspace.secrets()
        let engine = try workspace.engine(journal: journal, secrets: secrets) { _ in }
        let plans = PlanCache(workspace)
        jobs = DaemonJobs(journal: journal, engine: engine, secrets: secrets, plans: plans, log: log)
        scheduler = JobScheduler(jobs, clock: clock)
        desk = try workspace.callbackAddresses().map { [journal, jobs, clock] addresses in
            CallbackHandler(
                journal: journal, addresses: addresses, plans: plans, jobs: jobs, clock: clock,
                randomness: SystemRandomness(), log: log)
        }
    }

    /// Runs until a signal, or until there is nothing to do; throws when it can't begin.
    func run() async throws {
        try await journal.claimName()
        let requests = journal.requests(for: journal.owner)
        let attentions = journal.attentions()
        let receiver = try await startReceiver()
        let metrics = try await startMetrics()
        let control = ControlServer(descriptor: try listeningSocket(), answer: { [self] in answer($0) })
        control.start()
        for number in [SIGPIPE, SIGHUP, SIGXFSZ] { signal(number, SIG_IGN) }
        let (wishes, wish) = AsyncStream<Void>.makeStream()
        let signals = StopSignals { wish.yield() }
        defer { withExtendedLifetime(signals) {} }
        sayReady()
        await withDiscardingTaskGroup { group in
            group.addTask { for await job in requests { self.scheduler.knock(job) } }
            group.addTask { for await attention in attentions { self.scheduler.take(attention) } }
            group.addTask { await self.searchJournal() }
            group.addTask { await self.endWhenIdle() }
            group.addTask { for await _ in wishes { self.stop() } }
            await scheduler.run()
            group.cancelAll()
        }
        control.close()
        await receiver?.stop()
        await metrics?.stop()
        if manager.listener == nil { unlink(ControlAddress(stateFolder: settings.stateFolder).path) }
        await workspace.finish()
        await journal.close()
        log.note("stopped")
    }

    /// Asks everything to stop, and ends the process in any case before a service manager loses its patience: what is
    /// not told to the journal by then is found by the next owner, as after a crash.
    private func stop() {
        manager.tell("STOPPING=1")
        log.note("stopping")
        scheduler.stop()
        ForcedExit.exit(after: 4)
    }

    /// The receiver of pushes, where it can be reached: at the address asked for, else at the port of a public address
    /// on this machine, else at a port that is free.
    private func startReceiver() async throws -> ReceiverServer? {
        let address = try ListenAddress(parsing: options.listen ?? loopbackAddress ?? "127.0.0.1:0")
        guard let desk else {
            if options.listen != nil {
                log.note("no pushes are taken: services need an address; set PIPELINE_CALLBACK_URL or \"callbackURL\"")
            }
            return nil
        }
        let receiver = try await ReceiverServer.start(
            at: address, isKnown: { await desk.isKnown($0) }, answer: { await desk.answer($0) })
        log.note("pushes are taken on \(address.host):\(receiver.port)")
        return receiver
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
        if let passed = manager.listener { return passed }
        let address = ControlAddress(stateFolder: settings.stateFolder)
        guard let descriptor = address.listen() else {
            throw StepFailure("cannot listen on \(address.path): \(FileContent.reason)")
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
        case .take(let job, let values, let retriesFailed):
            jobs.name(job, values, retriesFailed: retriesFailed)
            scheduler.knock(job)
            return ["taken": .string(job.text)]
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
            } catch {
                log.note("the journal can't be searched: \(error)", level: .error)
            }
            guard (try? await clock.sleep(until: clock.now + Self.searchInterval)) != nil else { return }
        }
    }

    private func endWhenIdle() async {
        guard let limit = options.idleLimit else { return }
        var since = clock.now
        while (try? await clock.sleep(until: clock.now + .seconds(60))) != nil {
            if scheduler.counts.jobs > 0 { since = clock.now }
            if clock.now - since >= limit { return scheduler.stop() }
        }
    }
}
