package import PipelineCore

/// The gate at which jobs that nobody waits for ask whether they may go on, one for all jobs of a process: the ledger
/// folded from the journal's rows, the machine's sensors, and the clock.
///
/// Rows of other processes are taken in before each question, so that several processes of one state folder keep one
/// budget. A history that can't be read holds nothing up: then only what this process entered counts.
package actor ResumeRateLimiter {
    private let history: any DurationHistory
    private let clock: any WallClock
    private let sensors: any DeviceConditionsSource
    private var ledger = ResumeLedger()
    /// Entries of this gate that have not come by as rows.
    private var own: Set<ResumeRecord> = []
    /// The number of the last row that was taken in.
    private var last = 0
    /// The reading of the clock when rows were read last.
    private var reading: ClockReading

    package init(history: any DurationHistory, clock: any WallClock, sensors: any DeviceConditionsSource) {
        self.history = history
        self.clock = clock
        self.sensors = sensors
        reading = clock.reading
    }

    /// So far back rows can matter: a day of the longest delay, and as long again until it falls back.
    package static let reach = Duration.seconds(3 * 86_400)
    /// An entry that has not become a row by then never will: its job was lost.
    private static let patience = Duration.seconds(600)

    /// Enters a resume; what follows may begin at the decision's start. The caller journals the decision's record.
    package func enter(_ request: ResumeRequest) async -> ResumeDecision {
        await readRows()
        let decision = ledger.enter(request, at: clock.now)
        own.insert(decision.record)
        return decision
    }

    /// Returns whether now is a good moment for a discretionary step.
    package func judge(_ question: ConditionQuestion) async -> ConditionEvaluation {
        await readRows()
        let conditions = await sensors.conditions()
        let now = clock.now
        let used = ledger.usage(of: question.pipeline, under: question.budget, at: now).used
        return ConditionEvaluator.judge(
            ConditionFacts(question: question, conditions: conditions, used: used, now: now))
    }

    /// A resume will come: others that come a little sooner may wait for it.
    package func expect(_ resume: ExpectedResume) { ledger.expect(resume) }

    /// The job ended or was let go: none of its resumes comes any more.
    package func forget(_ job: JobID) { ledger.forget(job: job) }

    /// A person attends to a job: delays of its pipeline, and the machine's, begin again. Returns whether one was in force;
    /// then the caller journals the record, which ``ResumeRecord/attended(of:pipeline:at:)`` makes.
    package func attend(_ record: ResumeRecord) async -> Bool {
        await readRows()
        let wasDelayed = ledger.isDelayed(pipeline: record.pipeline, at: clock.now)
        ledger.fold(record)
        own.insert(record)
        return wasDelayed
    }

    /// After the clock was set the ledger is made of the rows again: times of the old clock mean nothing any more.
    private func forgetOldClock() {
        let now = clock.reading
        defer { reading = now }
        guard now.shift(since: reading) != nil else { return }
        (ledger, own, last) = (ResumeLedger(), [], 0)
    }

    private func readRows() async {
        forgetOldClock()
        let now = clock.now
        let before = last
        guard let rows = try? await history.resumes(after: before, since: now - Self.reach) else { return }
        // Another question may have read them while this one waited.
        guard last == before else { return }
        last = rows.last
        let ahead = rows.records.map { $0.time - now }.max() ?? .zero
        for row in rows.records where own.remove(row) == nil { ledger.fold(row.moved(back: ahead, to: now)) }
        if own.count > 256 { own = own.filter { $0.time >= now - Self.patience } }
    }
}

extension ResumeRecord {
    /// The record as it is folded at a time: one that lies ahead was made before the clock was set back, and counts from
    /// as long ago as the newest of them allows.
    fileprivate func moved(back duration: Duration, to now: Timestamp) -> ResumeRecord {
        guard time > now else { return self }
        var record = self
        record.time = time - duration
        record.start = start - duration
        return record
    }
}
