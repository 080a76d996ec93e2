public import JSONPath

/// The requests that a stage can make while it is called: values of expressions, durable commits, the submit ledger,
/// the time.
public struct StageContext<Checkpoint: Codable & Sendable>: Sendable {
    let host: any StageHost
    private let encode: @Sendable (Checkpoint) throws -> [UInt8]

    /// A context over a host; `encode` turns checkpoints into bytes.
    package init(host: any StageHost, encode: @escaping @Sendable (Checkpoint) throws -> [UInt8]) {
        self.host = host
        self.encode = encode
    }

    /// The facts of the step that are fixed.
    public var facts: StageFacts { host.facts }
    /// The time of day at which the call began and what has passed since: a clock that is set meanwhile moves nothing that
    /// is measured by it.
    public var now: Timestamp { host.now }

    /// The value of something that is evaluated in a scope, such as a template; what it must find out is journaled.
    ///
    /// `adjust` adds what only the stage knows, for example the answer that is being judged.
    public func evaluate<Value: Sendable>(
        with adjust: (inout Scope) -> Void = { _ in },
        _ evaluation: (Scope) throws(EvaluationFailure) -> Value
    ) async throws(StageFailure) -> Value {
        var found: [Fact: JSON] = [:]
        while true {
            switch try await attempt(found, adjust, evaluation) {
            case .success(let value): return value
            case .failure(.missing(let fact)): found[fact] = try await host.obtain(fact)
            case .failure(let failure): throw self.failure(of: failure)
            }
        }
    }

    /// Evaluates once with what is known. The scope is gone when this returns: while a fact is found out and kept nothing
    /// shares the job's facts, which would all be copied then.
    private func attempt<Value>(
        _ found: [Fact: JSON], _ adjust: (inout Scope) -> Void,
        _ evaluation: (Scope) throws(EvaluationFailure) -> Value
    ) async throws(StageFailure) -> Result<Value, EvaluationFailure> {
        var scope = try await host.scope()
        adjust(&scope)
        scope.facts.add(found)
        do throws(EvaluationFailure) {
            return .success(try evaluation(scope))
        } catch {
            return .failure(error)
        }
    }

    /// The value of a template.
    public func resolve(_ template: Template) async throws(StageFailure) -> JSON {
        try await evaluate { scope throws(EvaluationFailure) in try template.evaluate(in: scope) }
    }

    /// The value of a setting; one that the document says outright costs no look at what expressions may read.
    public func value<Value: Sendable>(of setting: Setting<Value>) async throws(StageFailure) -> Value {
        if let constant = setting.constant { return constant }
        return try await evaluate { scope throws(EvaluationFailure) in try setting.value(in: scope) }
    }

    /// Keeps the checkpoint, and captures where given; returns when they are durable.
    /// - Parameter progressed: true when the step has come further than it ever was: earlier failures of it are forgotten.
    public func commit(
        _ checkpoint: Checkpoint, captures: JSONObject? = nil, progressed: Bool = false
    ) async throws(StageFailure) {
        try await host.commit(checkpoint: try bytes(of: checkpoint), captures: captures, progressed: progressed)
    }

    /// Keeps the checkpoint with the next commit, at the latest with the step's end: for what nothing rests on before, such
    /// as that of a transfer that has ended.
    public func stage(_ checkpoint: Checkpoint) async throws(StageFailure) {
        try await host.stage(checkpoint: try bytes(of: checkpoint))
    }

    /// Counts body bytes that went over the network, whatever came of them; kept with the step's next commit, at the latest
    /// with its end. What a crash loses of them is not counted.
    public func count(_ moved: BytesMoved) { host.count(moved) }

    /// Adds to the counters that metrics show.
    package func measure(_ measured: Measurements) { host.measure(measured) }

    /// Says until when the service keeps what the step has there; nil for nothing known. Kept with the step's next change:
    /// the job goes on before that time, whatever else would hold it back.
    public func mustAct(before time: Timestamp?) { host.mustAct(before: time) }

    /// Keeps that a file has its final name.
    public func commit(file: WrittenFile) async throws(StageFailure) { try await host.commit(file: file) }

    /// True if a push came for the step since it was begun.
    public var isPushed: Bool { get async { await host.pushes() > 0 } }

    /// The values that the document takes out of a callback, of the last that brought any; nil for none since the step was
    /// begun.
    public var callbackCaptures: JSONObject? { get async { await host.callbackCaptures() } }

    /// Says when the service ended what the step waited for, in its own words: the true duration, for estimates and for how
    /// late the end was noticed.
    package func ended(at time: Timestamp) { host.ended(at: time) }

    /// Keeps that files have their final names.
    public func commit(files: [WrittenFile]) async throws(StageFailure) { try await host.commit(files: files) }

    /// The file that this step of the job has written at a path, also when it ran before; nil for none.
    package func written(at path: String) async -> WrittenFile? { await host.written(at: path) }

    /// What expressions of the job have said of a file when it was in another state than the one of that fingerprint, and
    /// what is not so any more.
    package func facts(ofFileAt path: String, otherThan fingerprint: String) async -> [Fact: JSON] {
        await host.facts(ofFileAt: path, otherThan: fingerprint)
    }

    /// Throws where the job has written the file and another one stands there by now.
    package func checkWritten(_ path: String) async throws(StageFailure) { try await host.checkWritten(path) }

    /// Keeps, with the next commit, which files are about to be sent: the fingerprints of their states by path.
    package func sends(_ files: [String: String]) async throws(StageFailure) { try await host.sends(files) }

    /// Takes a path for the step's result, just before this gets its name there.
    ///
    /// - Parameter isFolder: whether the result is a folder, which is there for all that is written in it.
    /// - Returns: the other step of the job that has written there: its result is not to be replaced. Nil for none.
    package func claim(_ path: String, isFolder: Bool = false) -> StepKey? { host.claim(path, isFolder: isFolder) }

    /// What tells the item of a batch that the job is for from those of all batches; nil for a job of its own.
    package var itemLabel: String? { host.itemLabel }

    /// Takes a path for the item of a batch that the job is for; durable when it returns.
    ///
    /// - Returns: the key of the other item of the batch whose file it is, which is not to be replaced. Nil for none,
    ///   and in a job of its own.
    package func claimForItem(_ path: String, isFolder: Bool) async throws(StageFailure) -> String? {
        try await host.claimForItem(path, isFolder: isFolder)
    }

    /// Tells observers how far it is; lossy.
    public func report(_ progress: StageProgress) { host.report(progress) }

    /// True if the job is still this process's, as far as the clock alone tells.
    public var isOwner: Bool { host.isOwner }

    /// Keeps an exchange, redacted, for `logs --curl` and `--har`; lossy.
    package func record(_ exchange: ExchangeRecord) { host.record(exchange) }

    /// Keeps the response that ends the stage, or would if nothing came after it, for what the document judges then.
    package func conclude(with response: ServiceResponse) {
        if facts.keepsResponse { host.conclude(with: response.responseValue) }
    }

    /// Says that the service has done what the stage asked for, before it is known whether its response can be used: what
    /// it costs is counted either way.
    package func noteServed() { host.noteServed() }

    /// The gate that knows whether services take requests now.
    package var services: any ServiceGate { host.services }

    /// A keyed hash in hex, from which nothing can be read: tells services and requests apart.
    public func digest(_ bytes: [UInt8]) -> String { host.digest(bytes) }

    /// Marks a point for crash tests.
    package func pass(_ point: CrashPoint) { host.pass(point) }

    /// Replaces the secrets in a text by their names: for everything of an exchange that is shown or kept.
    public func redact(_ text: String) -> String { host.redact(text) }

    /// Returns a text as it may stand in a checkpoint: what repeats a secret of the job, or a secret capture, is sealed.
    /// Nil when something secret in it can't be sealed, such as a token of `oauth2`.
    package func sealed(_ text: String) async -> String? {
        guard redact(text) != text else { return text }
        let sealed = await host.sealed(text)
        guard redact(sealed) == sealed, await host.opened(sealed) == text else { return nil }
        return sealed
    }

    /// Returns what was sealed, as it was; nil when its secret is another by now.
    package func opened(_ text: String) async -> String? {
        let opened = await host.opened(text)
        return JSON.string(opened).holdsSealed ? nil : opened
    }

    /// From now on the text is a secret too: a token that a service gave.
    public func conceal(_ secret: String, as name: String) { host.conceal(secret, as: name) }

    /// Warns of something that is likely a mistake, as `stage.warned`; the step goes on. The caller sees to it that
    /// nothing is told twice.
    public func warn(_ message: String) async throws(StageFailure) { try await host.warn(message) }

    /// An exchange of the stage needs a round trip of its own for credentials: one more resume in the background.
    package func authenticates() { host.authenticates() }

    /// Looks the secrets up again, for credentials that a service refused; true when one is another by now.
    package func renewSecrets(since used: [String: String]) async -> Bool { await host.renewSecrets(since: used) }

    /// A failure that points at the stage in the document.
    public func failure(of error: EvaluationFailure) -> StageFailure {
        switch error {
        case .missing(let fact): .definite(StepFailure("cannot find out \(fact)", place: facts.place))
        case .missingSecret(let name):
            .failed(
                AttemptFailure(
                    StepFailure(
                        "the secret \(name) is not set",
                        hint: "set PIPELINE_SECRET_\(name), or give a file with --secrets-file", place: facts.place),
                    kind: .secret))
        case .sealedSecret:
            .failed(
                AttemptFailure(StepFailure(error.message, hint: error.hint, place: facts.place), kind: .secret))
        case .wrong(let message, let hint, _):
            .definite(StepFailure(host.redact(message), hint: hint.map(host.redact), place: facts.place))
        }
    }

    func bytes(of checkpoint: Checkpoint) throws(StageFailure) -> [UInt8] {
        do {
            return try encode(checkpoint)
        } catch {
            throw .definite(StepFailure("the stage's checkpoint can't be written", place: facts.place))
        }
    }
}
