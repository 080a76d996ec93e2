public import JSONPath

/// The judgement of the response to a submit by the stage that sent it.
public enum SubmitResponse: Sendable {
    /// A whole response that accepts, with its captures.
    case accepted(JSONObject)
    /// A whole response that accepts, without what is captured: it is at the service, and looked for there.
    case incomplete(StepFailure, retryAfter: Duration? = nil)
    /// A definite refusal: nothing exists at the service.
    case refused(StepFailure)
    /// No connection was made, so nothing was sent.
    case notSent(AttemptFailure)
    /// The service said that it has not taken it (429, 503): to be sent again after the floor.
    case notAccepted(AttemptFailure)
    /// Anything else: it may have been accepted. When it is sent again, then not before the service's Retry-After.
    case uncertain(StepFailure, retryAfter: Duration? = nil)
}

/// The result of looking for a lost submit.
public enum Reconciliation: Sendable {
    /// Sending it again can't make a second one.
    case resend
    /// It is there and provably ours; these are its captures.
    case adopted(JSONObject)
    /// Nothing was found; look again after the delay before that is believed.
    case lookAgain(after: Duration)
    /// It can't be: the step fails.
    case refused(StepFailure)
    /// Something is there that is not ours, as the document tells it: the step fails, and the submit stays open. Another
    /// attempt looks again before it sends.
    case foreign(StepFailure)
    /// The look-up itself failed and may be tried again.
    case failed(AttemptFailure)
    /// Nobody but a person can tell.
    case unsettled(reason: String)
}

/// The end of a submit through the ledger.
public enum SubmitOutcome: Sendable {
    /// It was accepted, now or before, or was found at the service; its captures are committed.
    case submitted
    /// Look again later.
    case waiting(until: Timestamp)
    /// A person must resolve it.
    case unknown(UnknownSubmit)
}

extension StageContext {
    /// Sends something that must not be sent twice, in the order that makes the promise: `intent` is durable with or
    /// before `sending`, `sending` before the first byte, `submitted` together with the captures.
    ///
    /// Nothing happens between the first two, so that they share a transaction: a crash that finds neither has sent
    /// nothing, as one that finds an intent, and the key is made again from the same parts.
    ///
    /// - Parameters:
    ///   - body: what is sent, for the digest that is kept.
    ///   - send: sends once with the key and judges the response; never retries by itself.
    ///   - reconcile: looks for a submit whose response is lost, as the document's `once` says.
    public func submit(
        body: [UInt8],
        send: (SubmitRecord) async throws(StageFailure) -> SubmitResponse,
        reconcile: (SubmitRecord) async throws(StageFailure) -> Reconciliation
    ) async throws(StageFailure) -> SubmitOutcome {
        let digest = host.digest(body)
        _ = try await takesNewKey { digest }
        return try await submit(digest: digest, send: send, reconcile: reconcile)
    }

    /// Sends the same with a digest of the caller's own.
    /// - Parameter ready: waits until it may be sent; until then nothing is noted as under way, so that a crash leaves no
    ///   doubt.
    package func submit(
        digest: String,
        ready: () async throws(StageFailure) -> Void = {},
        send: (SubmitRecord) async throws(StageFailure) -> SubmitResponse,
        reconcile: (SubmitRecord) async throws(StageFailure) -> Reconciliation
    ) async throws(StageFailure) -> SubmitOutcome {
        var record = await host.submitRecord() ?? newRecord(digest: digest)
        // Of what is not under way nothing can have arrived: it is what is sent now.
        if record.phase == .intent { record.digest = digest }
        switch record.phase {
        case .submitted: return .submitted
        case .refused:
            throw .definite(StepFailure("the submit was refused before", place: facts.place))
        case .intent:
            try await host.stage(submit: record)
            pass(.submitIntent)
        case .sending, .unknown:
            if let outcome = try await reconciled(&record, reconcile) { return outcome }
        }
        try await ready()
        return try await sent(&record, send, reconcile)
    }

    /// Gives a submit another key when what is to be sent is another request than the one that was refused under the key
    /// that it has; returns whether it did.
    ///
    /// Nothing of that one is at the service, as far as it goes by what it said. One that checks keys refuses another
    /// content under a key that it knows, and one that repeats its responses gives the refusal again. The same request
    /// keeps its key, and so does one of which a response is lost.
    ///
    /// - Parameter digest: the digest of what is to be sent; asked for where it matters.
    package func takesNewKey(
        toSend digest: () throws(StageFailure) -> String
    ) async throws(StageFailure) -> Bool {
        guard let record = await host.submitRecord(), record.wasRefused, try digest() != record.digest else {
            return false
        }
        try await host.stage(submit: record.nextGeneration(of: facts.submitName))
        return true
    }

    /// Returns whether a submit went out of which nobody knows whether the service took it.
    public var hasOpenSubmit: Bool {
        get async { await host.submitRecord()?.isOpen == true }
    }

    /// The failure of a cancellation whose submit is open: it may be at the service, which can't be told to end it.
    package func openSubmitFailure(at service: String? = nil) -> StepFailure {
        StepFailure(
            "it is not known whether the service took the submit",
            hint: "look at the service: what was begun there goes on", service: service, place: facts.place)
    }

    /// The failure of a cancellation that nobody can tell the service, of what a submit began there; nil where there is
    /// nothing.
    package func submitLeft(at service: String?) async -> StepFailure? {
        if await hasOpenSubmit { return openSubmitFailure(at: service) }
        guard await hasSubmitted else { return nil }
        return StepFailure(
            "the stage has no \"cancel\", and the job goes on there", service: service, place: facts.place)
    }

    /// Returns whether a submit was accepted, and what its response gave is kept.
    public var hasSubmitted: Bool {
        get async { await host.submitRecord()?.phase == .submitted }
    }

    /// Returns whether the step is tried once more, or runs again from its beginning, for fresh captures for instance: the
    /// key's generation has grown then.
    package var isTriedAgain: Bool {
        get async {
            if facts.attempt > 1 { return true }
            return await submitGeneration > 1
        }
    }

    /// The generation of the step's key: above 1 when an earlier submit of it may be at the service.
    package var submitGeneration: Int {
        get async { await host.submitRecord()?.generation ?? 1 }
    }

    /// A ledger entry before its first send.
    private func newRecord(digest: String) -> SubmitRecord { SubmitRecord(of: facts.submitName, digest: digest) }

    private func sent(
        _ record: inout SubmitRecord, _ send: (SubmitRecord) async throws(StageFailure) -> SubmitResponse,
        _ reconcile: (SubmitRecord) async throws(StageFailure) -> Reconciliation
    ) async throws(StageFailure) -> SubmitOutcome {
        guard record.sends < facts.retry.attempts else {
            return try await giveUp(&record, Self.sends(of: record))
        }
        record.phase = .sending
        record.sends += 1
        record.firstSent = record.firstSent ?? now
        record.lastSent = now
        try await host.commit(submit: record, captures: nil)
        pass(.submitSending)
        let response = try await send(record)
        if case .incomplete = response { record.phase = .unknown }
        switch response {
        case .accepted(let captures):
            pass(.submitAnswered)
            record.phase = .submitted
            try await host.commit(submit: record, captures: captures)
            pass(.submitCommitted)
            return .submitted
        case .refused(let failure): return try await refused(&record, failure, reconcile)
        case .notSent(let failed), .notAccepted(let failed):
            // Only the first send can be taken back: an earlier one may still have arrived.
            record.sends -= 1
            if record.sends == 0 {
                record.phase = .intent
                record.firstSent = nil
            }
            try await host.commit(submit: record, captures: nil)
            throw .failed(failed)
        case .uncertain(let failure, let floor), .incomplete(let failure, let floor):
            if let outcome = try await reconciled(&record, reconcile) { return outcome }
            // Sending again is safe; the engine's retry policy says when, and for how long.
            var failed = AttemptFailure(failure, kind: failure.status == nil ? .silent : .answered, retryAfter: floor)
            failed.openSubmit = unknown(record, "\(Self.sends(of: record)); the last time: \(failure.title)")
            throw .failed(failed)
        }
    }

    /// After a second send a refusal proves nothing: a late first one may have won. It is looked up once more; what that
    /// does not settle stays open, so that the next attempt looks before it sends.
    private func refused(
        _ record: inout SubmitRecord, _ failure: StepFailure,
        _ reconcile: (SubmitRecord) async throws(StageFailure) -> Reconciliation
    ) async throws(StageFailure) -> SubmitOutcome {
        guard record.sends > 1 else { try await close(&record, failure) }
        switch try await reconcile(record) {
        case .adopted(let captures): return try await adopt(&record, captures)
        case .refused(let failure): try await close(&record, failure)
        case .foreign(let failure): throw .definite(failure)
        case .failed(let failed): throw .failed(open(failed, record))
        case .unsettled(let reason): return try await giveUp(&record, reason)
        case .resend, .lookAgain: throw .definite(withDoubt(failure))
        }
    }

    /// The failure of a send that was refused after one whose response is lost.
    private func withDoubt(_ failure: StepFailure) -> StepFailure {
        let doubt =
            "an earlier send of it had no answer and may have been taken: 'pipeline retry \(facts.job)' finds out, as "
            + "\"once\" says"
        var failure = failure
        failure.hint = failure.hint.map { "\($0); \(doubt)" } ?? doubt
        return failure
    }

    /// Looks for a lost submit; nil when it is to be sent again.
    private func reconciled(
        _ record: inout SubmitRecord, _ reconcile: (SubmitRecord) async throws(StageFailure) -> Reconciliation
    ) async throws(StageFailure) -> SubmitOutcome? {
        switch try await reconcile(record) {
        case .resend:
            record.misses = 0
            return nil
        case .adopted(let captures): return try await adopt(&record, captures)
        case .lookAgain(let delay):
            record.misses += 1
            try await host.commit(submit: record, captures: nil)
            return .waiting(until: now + delay)
        case .refused(let failure): try await close(&record, failure)
        case .foreign(let failure): throw .definite(failure)
        case .failed(let failed): throw .failed(open(failed, record))
        case .unsettled(let reason): return try await giveUp(&record, reason)
        }
    }

    /// Looked for in vain as often as `retry` allows, the submit is unknown and not failed: it may be there.
    private func open(_ failed: AttemptFailure, _ record: SubmitRecord) -> AttemptFailure {
        var failed = failed
        failed.openSubmit = unknown(
            record, "\(Self.sends(of: record)), and the look-up failed: \(failed.failure.title)")
        return failed
    }

    private func adopt(_ record: inout SubmitRecord, _ captures: JSONObject) async throws(StageFailure) -> SubmitOutcome
    {
        record.phase = .submitted
        try await host.commit(submit: record, captures: captures)
        return .submitted
    }

    /// Nothing exists at the service: what is sent next is as good as the first. It becomes durable with the end of the
    /// step, so that no other takes the place at the service before the failure counts.
    private func close(_ record: inout SubmitRecord, _ failure: StepFailure) async throws(StageFailure) -> Never {
        record.phase = .refused
        try await host.stage(submit: record)
        throw .definite(failure)
    }

    private func giveUp(_ record: inout SubmitRecord, _ reason: String) async throws(StageFailure) -> SubmitOutcome {
        if !record.isAccepted { record.misses = 0 }
        record.phase = .unknown
        try await host.commit(submit: record, captures: nil)
        return .unknown(unknown(record, reason))
    }

    private static func sends(of record: SubmitRecord) -> String {
        "it was sent \(record.sends == 1 ? "once" : "\(record.sends) times")"
    }

    /// A submit that is not known to have been accepted, for the reason given.
    private func unknown(_ record: SubmitRecord, _ reason: String) -> UnknownSubmit {
        UnknownSubmit(key: record.key, since: record.firstSent ?? now, reason: reason)
    }
}
