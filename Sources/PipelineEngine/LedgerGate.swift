public import PipelineCore

/// The gate of one process: the ledger folded from the journal's rows, the machine's sensors, and the clock.
///
/// Rows of other processes are taken in before each question, so that several processes of one state folder keep one
/// budget. A history that can't be read holds nothing up: then only what this process entered counts.
public actor LedgerGate: BackgroundGate {
    private let history: any BackgroundHistory
    private let clock: any WallClock
    private let sensors: any MachineSensors
    private let moments: MomentJudge
    private var ledger: ResumeLedger
    /// Rows that are in the ledger, as far back as they are read again.
    private var known: Set<ResumeRecord> = []
    private var readUntil: Timestamp?

    public init(
        history: any BackgroundHistory, clock: any WallClock, sensors: any MachineSensors,
        moments: MomentJudge = MomentJudge(), machine: ResumeBudget = .machine
    ) {
        self.history = history
        self.clock = clock
        self.sensors = sensors
        self.moments = moments
        ledger = ResumeLedger(machine: machine)
    }

    /// So far back rows can matter: a day of the longest delay, and as long again until it falls back.
    public static let reach = Duration.seconds(3 * 86_400)
    /// A row may become visible so long after its time.
    private static let lag = Duration.seconds(60)

    public func enter(_ request: ResumeRequest) async -> ResumeDecision {
        await readRows()
        let decision = ledger.enter(request, at: clock.now)
        known.insert(decision.record)
        return decision
    }

    public func judge(_ question: MomentQuestion) async -> MomentJudgement {
        await readRows()
        let surroundings = await sensors.surroundings()
        let now = clock.now
        let used = ledger.standing(of: question.pipeline, under: question.budget, at: now).used
        return moments.judge(MomentFacts(question: question, surroundings: surroundings, used: used, now: now))
    }

    public func expect(_ resume: ExpectedResume) { ledger.expect(resume) }

    public func forget(_ job: JobID) { ledger.forget(job: job) }

    public func attend(pipeline: String) { ledger.attend(pipeline: pipeline) }

    /// The ledger with all that other processes have journaled.
    public func current() async -> ResumeLedger {
        await readRows()
        return ledger
    }

    private func readRows() async {
        let now = clock.now
        let since = (readUntil ?? now - Self.reach) - (readUntil == nil ? .zero : Self.lag)
        guard let rows = try? await history.resumes(since: since, of: nil) else { return }
        for row in rows where known.insert(row).inserted { ledger.fold(row) }
        known = known.filter { $0.time >= now - Self.lag - Self.lag }
        readUntil = now
    }
}
