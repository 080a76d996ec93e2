package import PipelineCore

/// Everything outside the engine that it uses: real in programs, virtual in simulations.
package struct EnginePorts: Sendable {
    package var journal: any Journal
    package var clock: any WallClock
    package var randomness: any Randomness
    package var secrets: any SecretSource
    package var files: any FileFacts
    package var crashProbe: any CrashProbe
    /// Keeps what was sent and answered, for people.
    package var exchanges: any ExchangeLog
    /// The name under which this process owns jobs.
    package var owner: OwnerID
    /// A keyed hash in hex, the key secret to this state folder: tells bodies apart without giving them away.
    package var keyedHash: @Sendable ([UInt8]) -> String
    /// The address at which a push for a step is taken, of its job, the step and the step's own key; nil without a
    /// public address.
    package var callbackURL: @Sendable (JobID, StepKey, String) -> String? = { _, _, _ in nil }
    /// The seal of secrets in captured values; nil keeps these as they came.
    package var seal: (any SecretSeal)?
    /// The gate at which jobs in the background ask whether they may go on; nil when nothing holds them.
    package var gate: ResumeRateLimiter?
    /// True if a person watches the job on a terminal at this moment: then nothing holds it back.
    package var isWatched: @Sendable (JobID) -> Bool = { _ in false }
    /// The gate that knows whether services take requests now.
    package var services: any ServiceGate = OpenServices()
    /// The time that stages took before; nil when nobody remembers.
    package var history: (any DurationHistory)?
    /// The sinks that notifications go through; nil when nobody is told of anything.
    package var sinks: (any NotificationSinks)?
    /// True if the end of a step's call is to be taken for something that should never happen: for tests of that.
    package var breaksLaw: @Sendable (StepKey) -> Bool = { _ in false }
    /// Told of every event after it is committed and what it tells of has begun, in the order of their numbers, and of
    /// progress as it comes; must return at once. From any thread.
    package var observe: @Sendable (JobEvent) -> Void

    /// The journal's rows of batches; nil of a journal that keeps none.
    package var batches: (any BatchJournal)? { journal as? any BatchJournal }

    package init(
        journal: any Journal, clock: any WallClock, randomness: any Randomness, secrets: any SecretSource,
        files: any FileFacts, crashProbe: any CrashProbe, exchanges: any ExchangeLog = NoExchangeLog(), owner: OwnerID,
        keyedHash: @escaping @Sendable ([UInt8]) -> String, gate: ResumeRateLimiter? = nil,
        history: (any DurationHistory)? = nil, observe: @escaping @Sendable (JobEvent) -> Void
    ) {
        self.journal = journal
        self.clock = clock
        self.randomness = randomness
        self.secrets = secrets
        self.files = files
        self.crashProbe = crashProbe
        self.exchanges = exchanges
        self.owner = owner
        self.keyedHash = keyedHash
        self.gate = gate
        self.history = history
        self.observe = observe
    }
}
