package import JSONPath
package import PipelineCore
package import PipelineEngine
package import PipelineHTTP
import PipelineJournal
package import PipelineStages
import PipelineTraces
import Synchronization

/// One engine put together with good defaults: the journal of the state folder, the machine's clock, libcurl.
package final class Workspace: Sendable {
    /// The journal that workspaces use.
    package typealias Journal = any WorkspaceJournal

    /// The closures that are told what a journal or an exporter finds out while they work.
    private struct Observers {
        var outage: @Sendable (JournalFailure?) -> Void = { _ in }
        var traces: @Sendable (String) -> Void = { _ in }
    }

    package let settings: Settings
    /// The kinds of stage that documents may use without any plugin.
    package let catalogue: Catalogue
    /// The plugins of the folders that the settings name.
    package let plugins: PluginHost
    /// The exchanges of the jobs of the state folder.
    package let exchanges: ExchangeFiles
    let extensions: Extensions
    /// Digests of files that uploads of this process have made out.
    private let digests = DigestCache()
    /// Fetches inputs that are URLs.
    let inputs: FetchedInputs
    /// The exporter that sends spans, once an engine was made and where a collector is named.
    private let exporter = Mutex<TraceExporter?>(nil)
    private let network: Network
    private let tokens: AccessTokens
    private let observers = Mutex(Observers())
    /// What is to be called of the journals that were opened before the process ends.
    private let flushes = Mutex<[@Sendable () async -> Void]>([])

    /// A workspace that knows what is built in, and what `extend` adds.
    package init(settings: Settings, extend: @Sendable (inout Extensions) -> Void = { _ in }) {
        self.settings = settings
        exchanges = ExchangeFiles(stateFolder: settings.stateFolder)
        let cache = SQLiteResponseCache(stateFolder: settings.stateFolder)
        let curl = CurlTransport()
        tokens = AccessTokens(transport: curl, refreshTokens: RefreshTokenFiles(folder: settings.stateFolder))
        let transport = CachingTransport(AuthorizingTransport(curl, tokens: tokens), cache: cache)
        // Nothing that stages use stands between spans and their collector.
        network = Network(transport: curl)
        var extensions = Extensions(network: Network(transport: transport), digests: digests)
        extend(&extensions)
        self.extensions = extensions
        catalogue = extensions.catalogue()
        inputs = FetchedInputs(stateFolder: settings.stateFolder, catalogue: catalogue)
        plugins = PluginHost(
            folders: settings.pluginFolders, settings: PluginSettings(environment: settings.environment),
            reserved: [
                .stage: Set(catalogue.kinds.keys), .decorator: Set(extensions.decoratorNames),
                .sink: NotificationSinkDefinition.reservedNames.union(catalogue.sinks.map(\.name)),
            ])
    }

    /// The catalogue with the plugins that a document may mean; only they are started.
    package func catalogue(for source: SourceText) async -> Catalogue {
        extensions.catalogue(with: await plugins.plugins(namedIn: source))
    }

    /// Makes catalogues like that over another network, such as one that replays what was recorded.
    package func catalogues(for source: SourceText) async -> @Sendable (Network) -> Catalogue {
        let plugins = await plugins.plugins(namedIn: source)
        return { [extensions] in extensions.over($0).catalogue(with: plugins) }
    }

    /// The catalogue with all plugins.
    package func wholeCatalogue() async -> Catalogue { extensions.catalogue(with: await plugins.plugins()) }

    /// The journal of the settings: of the state folder, made when it is not there, or of a database.
    package func openJournal() throws(JournalFailure) -> Journal {
        guard let address = settings.journalAddress else {
            return opened(try SQLiteJournal(folder: settings.stateFolder))
        }
        return opened(
            try PostgresJournal(shared: address, settings) { [weak self] failure in
                self?.observers.withLock(\.outage)(failure)
            })
    }

    private func opened(_ journal: Journal) -> Journal {
        flushes.withLock { $0.append(journal.flush) }
        return journal
    }

    /// From now on tells `observe`, and nobody else, why the database of ``openJournal()`` can't be reached for now, and nil
    /// once it can again.
    package func observeOutages(_ observe: @escaping @Sendable (JournalFailure?) -> Void) {
        observers.withLock { $0.outage = observe }
    }

    /// From now on tells `observe`, and nobody else, why traces can't be sent, or are lost.
    package func observeTraces(_ observe: @escaping @Sendable (String) -> Void) {
        observers.withLock { $0.traces = observe }
    }

    /// The name under which a background owner has the jobs of a state folder.
    static let backgroundOwner = OwnerID("daemon")

    /// The journal of the settings for a background owner. That of a state folder is opened under a name by which only one
    /// process can have jobs. `observe` is told why a database can't be written to for now, and nil once it can again.
    package func openBackgroundJournal(
        observe: @escaping @Sendable (JournalFailure?) -> Void = { _ in }
    ) throws(JournalFailure) -> Journal {
        if let address = settings.journalAddress {
            return try PostgresJournal(shared: address, settings, observe: observe)
        }
        return try SQLiteJournal(folder: settings.stateFolder, owner: Self.backgroundOwner)
    }

    /// The journal of the settings; nil when nothing was ever kept in the state folder.
    package func existingJournal() throws(JournalFailure) -> Journal? {
        if settings.journalAddress != nil { return try openJournal() }
        return try SQLiteJournal.openExisting(folder: settings.stateFolder).map(opened)
    }

    /// An engine over a journal, by whose clock it runs. `observe` is told of every event and must return at once, before
    /// those who watch the job from other processes; `showLine` shows a line on the program's own terminal, and is false
    /// when it has none; `watchExchange` gets each exchange as it ends.
    package func engine(
        journal: Journal, secrets: any SecretSource,
        showLine: @escaping @Sendable (String) -> Bool = { _ in false },
        watchExchange: (@Sendable (ExchangeRecord) -> Void)? = nil,
        observe: @escaping @Sendable (JobEvent) -> Void
    ) throws(JournalFailure) -> Engine {
        let key = try hashKey(of: journal)
        let exporter = traceExporter(journal)
        var ports = ports(
            journal, isShared: journal.shared != nil, owner: journal.owner, key: key, secrets: secrets,
            clock: journal.clock
        ) { event in
            observe(event)
            journal.show(event)
            exporter?.take(event)
        }
        (ports.gate, ports.history) = (gate(journal: journal, clock: ports.clock), journal)
        if let watchExchange { ports.exchanges = WatchedExchangeLog(log: exchanges, watch: watchExchange) }
        ports.services = JournaledServices(journal: journal, clock: ports.clock)
        if let probe = AssertionProbe(settings.environment["PIPELINE_ASSERT_AT"]) { ports.breaksLaw = probe.breaks }
        ports.isWatched = { journal.isWatched($0) }
        ports.seal = seal(of: journal, else: key)
        ports.sinks = sinks(showLine: showLine)
        if let addresses = callbackAddresses(under: key) { ports.callbackURL = addresses.url }
        return Engine(ports: ports)
    }

    /// An engine over a journal that a program brings, which keeps jobs alone: nothing holds resumes back, every service takes
    /// requests, and no durations are remembered. Keys, exchanges and fetched inputs are in the state folder.
    func engine(
        over journal: any PipelineCore.Journal, owner: OwnerID, secrets: any SecretSource,
        observe: @escaping @Sendable (JobEvent) -> Void
    ) throws(JournalFailure) -> Engine {
        try MachineFolder(settings.stateFolder).prepare()
        let key = try HashKey(folder: settings.stateFolder)
        var ports = ports(journal, owner: owner, key: key, secrets: secrets, observe: observe)
        ports.seal = key
        ports.sinks = sinks { _ in false }
        return Engine(ports: ports)
    }

    private func ports(
        _ journal: any PipelineCore.Journal, isShared: Bool = false, owner: OwnerID, key: HashKey,
        secrets: any SecretSource, clock: any WallClock = SystemClock(), observe: @escaping @Sendable (JobEvent) -> Void
    ) -> EnginePorts {
        EnginePorts(
            journal: journal, clock: clock, randomness: SystemRandomness(), secrets: secrets,
            files: DiskFiles(digests: digests, inputs: inputs, isShared: isShared),
            crashProbe: SignalCrashProbe(settings.environment["PIPELINE_CRASH_AT"]) ?? NoCrashProbe(),
            exchanges: exchanges, owner: owner, keyedHash: { key.hash($0) }, observe: observe)
    }

    /// Gives what is still on its way a moment: the last spans of a trace, refresh tokens, and what was measured. The process may
    /// end then.
    package func finish() async {
        await finishTraces()
        await finishTokens()
        for flush in flushes.withLock(\.self) { await flush() }
    }

    /// Gives the last spans of a trace a moment, two seconds at most.
    package func finishTraces() async { await exporter.withLock { $0 }?.finish(within: .seconds(2)) }

    /// True while a refresh token was sent and the one that takes its place has not come: it is lost if the process ends.
    package var awaitsToken: Bool { tokens.isSpending }

    /// Waits while it ``awaitsToken``: as long as a request for a token may take, and a little more.
    package func finishTokens() async { await tokens.finish(within: .seconds(65)) }

    private func traceExporter(_ journal: Journal) -> TraceExporter? {
        exporter.withLock { exporter in
            let found =
                exporter
                ?? TraceExporter(
                    environment: settings.environment, version: ProgramVersion.number, network: network,
                    source: journal, owner: journal.owner, exchanges: { [exchanges] in exchanges.records(of: $0) },
                    warn: { [weak self] reason in self?.observers.withLock(\.traces)(reason) })
            exporter = found
            return found
        }
    }

    /// The addresses of pushes; nil without a public address.
    package func callbackAddresses(of journal: Journal) throws(JournalFailure) -> CallbackAddresses? {
        guard settings.callbackURL != nil else { return nil }
        return callbackAddresses(under: try hashKey(of: journal))
    }

    private func callbackAddresses(under key: HashKey) -> CallbackAddresses? {
        guard let base = settings.callbackURL else { return nil }
        return CallbackAddresses(base: base) { key.token(job: $0, step: $1, own: $2) }
    }

    /// Returns what keeps secrets that answers repeat out of the journal.
    package func captureSeal(of journal: Journal) throws(JournalFailure) -> any SecretSeal {
        seal(of: journal, else: try hashKey(of: journal))
    }

    /// The sources of secrets that hold for this program.
    package func secrets() throws(StepFailure) -> SecretSources {
        let file = try settings.secretsFile.map { path throws(StepFailure) in try SecretSources.read(path) } ?? [:]
        return SecretSources(
            file: file, path: settings.secretsFile, environment: settings.environment, command: settings.secretsCommand)
    }

    /// The plan of a job, from the document that it started with.
    package func plan(of record: JobRecord) async throws(DefinitionError) -> Plan {
        let source = SourceText(name: record.sourceName, text: record.source)
        return try Planner(catalogue: await catalogue(for: source)).plan(source, isBegun: true)
    }

    /// A new id for a job that starts now.
    package func newJobID() -> JobID {
        let random = SystemRandomness()
        return JobID(
            at: SystemClock().now, random: (UInt16(truncatingIfNeeded: random.bits()), random.bits()))
    }
}
