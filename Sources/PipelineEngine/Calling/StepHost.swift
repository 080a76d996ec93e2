import JSONPath
import PipelineCore
import Synchronization

/// The engine's side of a stage's context: passes what the stage asks on to the driver of its job.
final class StepHost: StageHost {
    let facts: StageFacts
    private let driver: JobExecutor
    private let ports: EnginePorts
    private let redactor: SharedRedactor
    private let meter = Mutex(ProgressMeter())
    /// Told that progress is held back.
    private let (holds, hold) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(driver: JobExecutor, facts: StageFacts, ports: EnginePorts, redactor: SharedRedactor) {
        self.driver = driver
        self.facts = facts
        self.ports = ports
        self.redactor = redactor
    }

    var now: Timestamp { ports.clock.now }

    func scope() async throws(StageFailure) -> Scope { await driver.scope(for: facts.step) }

    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON {
        let value = try await found(fact)
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.commit([.fact(self.facts.step.item.map { fact.kept(forItem: $0) } ?? fact, value)])
        }
        return value
    }

    private func found(_ fact: Fact) async throws(StageFailure) -> JSON {
        switch fact {
        case .now: return .string(ports.clock.now.description)
        case .uuid: return .string(RandomUUID.text(from: ports.randomness))
        case .size, .digest, .text, .base64, .jsonLines: return try await read(fact, at: fact.path ?? "").json
        }
    }

    /// A fact about a file in the state in which the job has read it before.
    private func read(_ fact: Fact, at path: String) async throws(StageFailure) -> FileFact {
        let before = ports.files.fingerprint(ofFileAt: path)
        let value: JSON
        do throws(StepFailure) {
            value = try await ports.files.value(of: fact)
        } catch {
            throw .definite(error)
        }
        let known = await driver.snapshot.fingerprint(ofFileAt: path)
        guard before == ports.files.fingerprint(ofFileAt: path), known == nil || known == before else {
            throw .definite(
                StepFailure(
                    "\(path) has changed since the job read it",
                    hint: "put the file back as it was, or start a new job with the new one: pipeline run",
                    place: facts.place))
        }
        return FileFact(value: value, fingerprint: before)
    }

    func commit(checkpoint: [UInt8]?, captures: JSONObject?, moved: BytesMoved) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.keep(self.facts.step, checkpoint: checkpoint, captures: captures, moved: moved)
        }
    }

    func stage(checkpoint: [UInt8], captures: JSONObject?, moved: BytesMoved) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.keep(
                self.facts.step, checkpoint: checkpoint, captures: captures, moved: moved, mayWait: true)
        }
    }

    func submitRecord() async -> SubmitRecord? { await driver.snapshot.submits[facts.step] }

    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.keep(self.facts.step, submit: submit, captures: captures)
        }
    }

    func stage(submit: SubmitRecord) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.stage([.submit(self.facts.step, submit)], mayWait: true)
        }
    }

    func warn(_ message: String) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.warn(self.facts.step, message, attempt: self.facts.attempt)
        }
    }

    func pushes() async -> Int { await driver.snapshot.pushes[facts.step]?.all ?? 0 }

    func commit(file: WrittenFile) async throws(StageFailure) {
        // Nothing is done on the strength of it: the end of the step, which follows, takes it along.
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.stage([.file(self.own(file))], mayWait: true)
        }
    }

    func commit(files: [WrittenFile]) async throws(StageFailure) {
        try await journaled { () async throws(JournalFailure) in
            try await self.driver.commit(files.map { .file(self.own($0)) })
        }
    }

    private func own(_ file: WrittenFile) -> WrittenFile {
        var file = file
        file.step = facts.step
        return file
    }

    private func journaled(_ work: () async throws(JournalFailure) -> Void) async throws(StageFailure) {
        do {
            try await work()
        } catch {
            throw .journal(error)
        }
    }

    func report(_ progress: StageProgress) {
        let now = ports.clock.now
        driver.reports.note(progress, of: facts.step, at: now)
        if let words = meter.withLock({ $0.words(for: progress, at: now) }) {
            if driver.reports.note(words, of: facts.step, at: now), driver.tellsExpectations {
                driver.mailbox.post(.heard)
            }
        }
        tell(progress, at: now)
    }

    /// Tells what came too soon after something else, so that what stands still shows where it does; ends when it is
    /// cancelled, and tells the last then.
    func tellHeldProgress() async {
        for await _ in holds {
            try? await ports.clock.sleep(until: ports.clock.now + ProgressMeter.interval)
            if let progress = meter.withLock(\.held) { tell(progress, at: ports.clock.now) }
        }
    }

    private func tell(_ progress: StageProgress, at now: Timestamp) {
        let (event, isHeld) = meter.withLock { meter in
            (meter.event(for: progress, of: facts, at: now), meter.held != nil)
        }
        if isHeld { hold.yield() }
        guard let (kind, data) = event else { return }
        ports.observe(
            JobEvent(
                sequence: nil, time: now, kind: kind, job: facts.job, pipeline: facts.pipeline,
                step: facts.step, attempt: facts.attempt, data: data))
    }

    func count(_ moved: BytesMoved) { driver.passing.add(moved, of: facts.step) }

    func mustAct(before time: Timestamp?) { driver.limits.note(time, of: facts.step) }

    var isOwner: Bool { ports.journal.holds(driver.lease) }

    func record(_ exchange: ExchangeRecord) { ports.exchanges.append(exchange, of: facts.job) }

    func pass(_ point: CrashPoint) { ports.crashProbe.pass(point) }

    func digest(_ bytes: [UInt8]) -> String { ports.keyedHash(bytes) }

    func redact(_ text: String) -> String { redactor.redact(text) }

    func conceal(_ secret: String, as name: String) { redactor.add([(name, secret)]) }

    func authenticates() { driver.mailbox.post(.authenticates(facts.step)) }

    func renewSecrets(since used: [String: String]) async -> Bool { await driver.renewSecrets(since: used) }
}
