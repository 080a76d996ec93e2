import JSONPath
import PipelineCore
import Synchronization

/// The engine's side of a stage's context: answers from values that were fixed with the call, and passes the rest on
/// by the step's channel.
final class StepHost: StageHost {
    let facts: StageFacts
    let itemLabel: String?
    /// The time when the call began, by the clock that the times of the step are kept by.
    private let begin: ClockReading
    private let channel: StepChannel
    private let lease: Lease
    private let document: PipelineDefinition
    private let ports: EnginePorts
    private let redactor: SharedRedactor
    private let notes: NoteBook
    private let meter = Mutex(ProgressMeter())
    /// Told that progress is held back.
    private let (holds, hold) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(
        facts: StageFacts, itemLabel: String?, begin: JobMoment, channel: StepChannel, lease: Lease,
        document: PipelineDefinition, ports: EnginePorts, redactor: SharedRedactor, notes: NoteBook
    ) {
        self.facts = facts
        self.itemLabel = itemLabel
        self.begin = begin.reading ?? ports.clock.reading
        self.channel = channel
        self.lease = lease
        self.document = document
        self.ports = ports
        self.redactor = redactor
        self.notes = notes
    }

    var now: Timestamp { begin.time + (ports.clock.elapsed - begin.elapsed) }

    func scope() async throws(StageFailure) -> Scope {
        var scope = await channel.scope()
        // Another machine may have made the copy, or somebody has tidied up: it is fetched again.
        for input in scope.inputs {
            guard let url = input.value.string, let path = scope.facts[.copy(url: url)]?.string else { continue }
            if ports.files.fingerprint(ofFileAt: path) == nil { scope.facts[.copy(url: url)] = nil }
        }
        scope.noteMade = { [redactor, document, stage = facts.step.stage] value, roots in
            redactor.add(value, madeOf: roots.lazy.compactMap { $0.hiddenName(in: document, at: stage) })
        }
        return scope
    }

    func obtain(_ fact: Fact) async throws(StageFailure) -> JSON {
        let value = try await found(fact)
        try await save(.fact(fact, value, mayWait: false))
        return value
    }

    private func found(_ fact: Fact) async throws(StageFailure) -> JSON {
        switch fact {
        case .now: return .string(ports.clock.now.description)
        case .uuid: return .string(RandomUUID.text(from: ports.randomness))
        case .copy(let url): return .string(try await copy(of: url))
        case .size, .digest, .text, .base64, .jsonLines: return try await read(fact, at: fact.path ?? "").json
        // Kept with what they are about.
        case .kept: return .null
        }
    }

    /// Fetches an input that is a URL. Another machine goes on with the same content, or not at all.
    private func copy(of url: String) async throws(StageFailure) -> String {
        let path = try await ports.files.copy(of: url, for: document, host: self)
        guard let content = await ports.files.contentDigest(ofFileAt: path) else { return path }
        switch await channel.scope().facts[.copied(url: url)]?.string {
        case nil: try await save(.fact(.copied(url: url), .string(content), mayWait: false))
        case content?: break
        case _?:
            ports.files.forget(copyAt: path)
            throw .definite(
                StepFailure(
                    redact("\(url) has changed since the job read it"),
                    hint: "put it back as it was, or start a new job with the new one: pipeline run",
                    place: facts.place))
        }
        return path
    }

    /// A fact about a file in the state in which the job has read it before.
    private func read(_ fact: Fact, at path: String) async throws(StageFailure) -> FileFact {
        try await checkWritten(path)
        let before = ports.files.fingerprint(ofFileAt: path)
        let value: JSON
        do throws(StepFailure) {
            value = try await ports.files.value(of: fact)
        } catch {
            throw .definite(error)
        }
        let known = await channel.fingerprint(path)
        guard before == ports.files.fingerprint(ofFileAt: path), known == nil || known == before else {
            throw .definite(
                StepFailure(
                    "\(path) has changed since the job read it",
                    hint: "put the file back as it was, or start a new job with the new one: pipeline run",
                    place: facts.place))
        }
        // A copy that is fetched again is told from the one before by its fingerprint alone.
        return FileFact(value: value, fingerprint: await channel.scope().hasCopy(at: path) ? nil : before)
    }

    func commit(checkpoint: [UInt8], captures: JSONObject?, progressed: Bool) async throws(StageFailure) {
        try await save(.progress(checkpoint: checkpoint, captures: captures, isFarther: progressed, mayWait: false))
    }

    func stage(checkpoint: [UInt8]) async throws(StageFailure) {
        try await save(.progress(checkpoint: checkpoint, captures: nil, isFarther: false, mayWait: true))
    }

    func submitRecord() async -> SubmitRecord? { await channel.submit() }

    func commit(submit: SubmitRecord, captures: JSONObject?) async throws(StageFailure) {
        try await save(.submit(submit, captures: captures, mayWait: false))
    }

    func stage(submit: SubmitRecord) async throws(StageFailure) {
        try await save(.submit(submit, captures: nil, mayWait: true))
    }

    func warn(_ message: String) async throws(StageFailure) { try await save(.warning(message)) }

    func pushes() async -> Int { await channel.callbacks().all }

    func callbackCaptures() async -> JSONObject? { await channel.callbacks().captures }

    func commit(file: WrittenFile) async throws(StageFailure) {
        // Nothing is done on the strength of it: the end of the step, which follows, takes it along.
        try await save(.files([file], facts: await traces(of: [file]), mayWait: true))
        notes.claims.write([file], by: facts.step)
    }

    func commit(files: [WrittenFile]) async throws(StageFailure) {
        try await save(.files(files, facts: await traces(of: files), mayWait: false))
        notes.claims.write(files, by: facts.step)
    }

    /// What tells the files from others that come under their paths, where a stage reads what this one gives, or one of
    /// before did.
    private func traces(of files: [WrittenFile]) async -> [Fact: JSON] {
        var found: [Fact: JSON] = [:]
        for file in files {
            if facts.namesRead.isEmpty, await channel.trace(file.path) == nil { continue }
            found[.written(file.path)] = trace(ofFileAt: file.path).map { .string($0) }
        }
        return found
    }

    private func trace(ofFileAt path: String) -> String? {
        ports.files.sharedFingerprint(ofFileAt: path) ?? ports.files.fingerprint(ofFileAt: path)
    }

    /// Throws where the job has written the file and another one stands there by now: another job's, perhaps.
    func checkWritten(_ path: String) async throws(StageFailure) {
        guard let written = await channel.trace(path), written != trace(ofFileAt: path) else { return }
        let file = await channel.result(path)
        // The very bytes are the file, put back or touched.
        if let digest = file?.sha256, (try? await ports.files.value(of: .digest(path, .sha256)))?.string == digest {
            return
        }
        throw .definite(
            StepFailure(
                "\(path) is not the file any more that this job has written",
                hint: "have it written again: pipeline retry \(facts.job) --from \(file?.step?.stage ?? "STAGE") "
                    + "--overwrite; one that is to be sent as it is now is an input of another job", place: facts.place)
        )
    }

    func written(at path: String) async -> WrittenFile? {
        await channel.result(path).flatMap { $0.step == facts.step ? $0 : nil }
    }

    func sends(_ files: [String: String]) async throws(StageFailure) {
        let states = JSONObject(files.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        try await save(.fact(.sent(by: facts.step), .object(states), mayWait: true))
    }

    func facts(ofFileAt path: String, otherThan fingerprint: String) async -> [Fact: JSON] {
        var untrue: [Fact: JSON] = [:]
        for (fact, value) in await channel.told(path, fingerprint) {
            let current = try? await ports.files.value(of: fact)
            if current != value { untrue[fact] = value }
        }
        return untrue
    }

    func claim(_ path: String, isFolder: Bool) -> StepKey? {
        notes.claims.claim(path, isFolder: isFolder, for: facts.step)
    }

    func claimForItem(_ path: String, isFolder: Bool) async throws(StageFailure) -> String? {
        guard itemLabel != nil, let batches = ports.batches else { return nil }
        do throws(JournalFailure) {
            return try await batches.claimFile(path, isFolder: isFolder, under: lease)
        } catch {
            throw .journal(error)
        }
    }

    private func save(_ report: StepReport) async throws(StageFailure) { try await channel.save(report) }

    func report(_ progress: StageProgress) {
        let now = now
        let words = meter.withLock { $0.words(for: progress, at: now) }
        if notes.hear(progress, words, of: facts.step, at: now) { channel.post(.heard(facts.step)) }
        show(progress, at: now)
    }

    /// Shows what came too soon after something else, so that what stands still shows where it does; ends when it is
    /// cancelled, and shows the last then.
    func showHeldProgress() async {
        for await _ in holds {
            try? await ports.clock.sleep(until: ports.clock.now + ProgressMeter.interval)
            if let progress = meter.withLock(\.held) { show(progress, at: now) }
        }
    }

    private func show(_ progress: StageProgress, at now: Timestamp) {
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

    func count(_ moved: BytesMoved) { notes.count(moved, of: facts.step) }

    func conclude(with response: JSON) { notes.keep(response, of: facts.step) }

    func noteServed() { notes.noteServed(facts.step) }

    func measure(_ measured: Measurements) { notes.measure(measured) }

    func mustAct(before time: Timestamp?) { notes.expire(at: time, facts.step) }

    var services: any ServiceGate { ports.services }

    func ended(at time: Timestamp) { notes.end(at: time, facts.step) }

    var isOwner: Bool { ports.journal.holds(lease) }

    func record(_ exchange: ExchangeRecord) { ports.exchanges.append(exchange, of: facts.job) }

    func pass(_ point: CrashPoint) { ports.crashProbe.pass(point) }

    func digest(_ bytes: [UInt8]) -> String { ports.keyedHash(bytes) }

    func redact(_ text: String) -> String { redactor.redact(text) }

    func sealed(_ text: String) async -> String { await channel.sealing()?.sealed(.string(text)).string ?? text }

    func opened(_ text: String) async -> String { await channel.sealing()?.opened(.string(text)).string ?? text }

    func conceal(_ secret: String, as name: String) { redactor.add([(name, secret)]) }

    func authenticates() { channel.post(.authenticates(facts.step)) }

    func renewSecrets(since used: [String: String]) async -> Bool { await channel.renewSecrets(used) }
}

extension Scope {
    /// Returns whether the file is the local copy of an input that is a URL.
    fileprivate func hasCopy(at path: String) -> Bool {
        inputs.contains { input in input.value.string.map { facts[.copy(url: $0)]?.string == path } ?? false }
    }
}

extension StageFacts {
    /// The facts that a call of a step's stage may know of its job, fixed with the call.
    init(
        of key: StepKey, _ stage: PlannedStage, _ step: StepRecord, in state: JobState, now: Timestamp,
        overwrites: Bool, outlook: @escaping @Sendable () -> StageOutlook
    ) {
        let record = state.table.snapshot.record
        self.init(
            job: record.id, submitName: record.submitName(of: key), pipeline: record.pipeline,
            attempt: step.state.attempt?.number ?? 1,
            hasFailed: step.state.attempt.map { $0 != $0.progressed } ?? false,
            freshness: Freshness(of: key, stage, in: state), started: step.started ?? now,
            deadline: state.table.deadline(of: key), folders: record.folders,
            overwrites: overwrites || record.overwrites, retry: state.table.policy(of: key, stage), outlook: outlook,
            isAttended: state.interactivity == .attended, place: stage.place, namesRead: stage.namesRead,
            keepsResponse: stage.readsResponse)
    }
}

extension Reference.Root {
    /// The name under which its value is hidden, if it is secret; captures are hidden by their names alone.
    fileprivate func hiddenName(in document: PipelineDefinition, at stage: String) -> String? {
        switch self {
        case .capture(let stage, let name?): "\(stage).\(name)"
        case .own(let name?): "\(stage).\(name)"
        default: secretName(in: document)
        }
    }
}
