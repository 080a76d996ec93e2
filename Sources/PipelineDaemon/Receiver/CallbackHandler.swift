import JSONPath
import Logging
import PipelineCore
import PipelineKit
import PipelineServer

/// Takes pushes: tells whose one is, verifies it, keeps it in the journal, and only then says so.
///
/// What a push says is believed by nobody, but for the values that the document takes out of it: the step is woken and asks
/// its service. It knows no sockets.
struct CallbackHandler: Sendable {
    let journal: Workspace.Journal
    let addresses: CallbackAddresses
    let plans: PlanCache
    let jobs: DaemonJobs
    let clock: any WallClock
    let randomness: any Randomness
    let seal: any SecretSeal
    let rate = CallbackRate()
    private let turns = CallbackTurns()
    let log: DaemonLog

    /// The largest body.
    static let bodyLimit = 1 << 20

    func answer(_ push: IncomingRequest) async -> CallbackResponse {
        let now = clock.now
        guard rate.takesRequest(at: now) else { return .tooMany }
        guard push.method == "POST" || push.method == "PUT", let address = CallbackAddresses.parse(path: push.path)
        else { return .nowhere }
        do throws(JournalFailure) {
            // One that is whole is kept, also when its sender has left without waiting for the answer.
            let found = try await turns.take { () async throws(JournalFailure) in
                try await journal.snapshot(of: address.job)
            }
            guard let job = found, job.steps[address.step] != nil else { return .nowhere }
            return try await answer(push, for: address.step, token: address.token, of: job, at: now)
        } catch {
            log.note("a push for job \(address.job) could not be kept: \(error)", level: .error, job: address.job)
            return .later
        }
    }

    /// Returns whether a path is the address of a step's callback, made here.
    func isKnown(_ path: String) async -> Bool { await address(path) != nil }

    /// Logs that a push was refused for its size, if it was one for a step here.
    func noteTooLong(_ path: String) async {
        guard let address = await address(path) else { return }
        log.note(
            "a push for \(address.step) of job \(address.job) has more than \(Self.bodyLimit >> 20) MiB, and was refused",
            level: .warning, job: address.job, step: address.step)
    }

    /// The address of a step's callback that was made here; nil for any other path.
    private func address(_ path: String) async -> (job: JobID, step: StepKey)? {
        guard let address = CallbackAddresses.parse(path: path),
            let job = await turns.take({ Task.isCancelled ? nil : try? await journal.snapshot(of: address.job) }),
            job.steps[address.step] != nil, isGenuine(address.token, for: address.step, of: job)
        else { return nil }
        return (address.job, address.step)
    }

    private func isGenuine(_ token: String, for step: StepKey, of job: JobSnapshot) -> Bool {
        addresses.isGenuine(token, job: job.record.id, step: step, own: job.ownKey(of: step))
    }

    private func answer(
        _ push: IncomingRequest, for step: StepKey, token: String, of job: JobSnapshot, at now: Timestamp
    ) async throws(JournalFailure) -> CallbackResponse {
        let id = job.record.id
        guard isGenuine(token, for: step, of: job) else { return .nowhere }
        guard rate.takesPush(of: id, step, at: now) else { return .tooMany }
        guard let plan = try? await plans.plan(of: job.record) else { return .later }
        guard let callback = plan.stage(step.stage)?.stage.callback else { return .nowhere }
        if !job.mayUsePush(for: step) { return .gone }
        var scope = await scope(for: step, of: job, in: plan)
        switch Self.proof(of: callback.verification, in: scope) {
        case .failure:
            log.note(
                "a push for \(step) of job \(id) needs a secret that is not here; who resumes the job gives it",
                level: .warning, job: id, step: step)
            return .later
        case .success(let proof):
            if let proof, !proof.accepts(push, now: now.milliseconds / 1000) {
                log.note(
                    "a push for \(step) of job \(id) was refused: it does not prove that it knows the secret of \"verify\"",
                    level: .warning, job: id, step: step)
                return .unverified
            }
        }
        let sealing = CaptureSealing(scope.secrets.map { ($0.key, $0.value) }, seal: seal)
        var response: JSON?
        if let condition = callback.condition {
            scope.response = Self.response(of: push).responseValue
            if (try? condition.evaluateCondition(in: scope)) != true {
                // What it reads of the step may be known only once its submit's response is kept.
                guard job.awaitsSubmit(of: step, in: plan) else { return .taken }
                if let early = job.pushes[step]?.early, early.count >= CallbackCount.mostEarly { return .later }
                response = scope.response.map(sealing.sealed)
            }
        }
        let captures = captures(of: push, by: callback, for: step, of: id, sealing)
        let receipt = try await journal.post(
            Callback(id: name(of: push, callback), time: now, captures: captures, response: response), to: step, of: id)
        log.note(
            "a push for \(step) of job \(id)" + (receipt.isNew ? "" : ", which had come before"), job: id, step: step)
        return .taken
    }

    /// The values that the document takes out of a push, secrets in them sealed; nil when there are none, or not all.
    private func captures(
        of push: IncomingRequest, by callback: CallbackDefinition, for step: StepKey, of id: JobID,
        _ sealing: CaptureSealing
    ) -> JSONObject? {
        guard !callback.capture.isEmpty else { return nil }
        do throws(CaptureFailure) {
            let values = try callback.capture.values(in: Self.response(of: push))
            return JSONObject(values.map { ($0.name, sealing.sealed($0.value)) })
        } catch {
            log.note("a push for \(step) of job \(id) lacks what is captured: \(error.capture ?? "a value")")
            return nil
        }
    }

    private func scope(for step: StepKey, of job: JobSnapshot, in plan: Plan) async -> Scope {
        var secrets: [String: String] = [:]
        let source = jobs.secrets(of: job.record)
        for name in plan.secrets { secrets[name] = await source.secret(name) }
        let inputs = await jobs.secretInputs(of: job.record, plan)
        return job.table(in: plan, secrets: secrets, secretInputs: inputs, at: clock.now).currentScope(for: step)
    }

    /// The proof that is asked for; nil when the address is all.
    private static func proof(
        of verification: CallbackVerification?, in scope: Scope
    ) -> Result<CallbackAuthenticator?, EvaluationFailure> {
        Result { () throws(EvaluationFailure) in
            switch verification {
            case nil: nil
            case .standardWebhooks(let secret): .standardWebhooks(secret: try secret.evaluateText(in: scope))
            case .token(let token):
                .token(value: try token.value.evaluateText(in: scope), header: token.header, query: token.query)
            case .hmac(let signature):
                .signature(
                    signature, secret: try signature.secret.evaluateText(in: scope),
                    isTimestamped: try signature.isTimestamped.value(in: scope))
            }
        }
    }

    /// The push as expressions see it.
    private static func response(of push: IncomingRequest) -> ServiceResponse {
        ServiceResponse(status: 200, headers: push.headers, url: "http://callback\(push.path)", body: push.body)
    }

    /// The push's own id, by which a repetition is known; a new one for a push that has none.
    private func name(of push: IncomingRequest, _ callback: CallbackDefinition) -> String {
        var names = ["webhook-id", "X-GitHub-Delivery", "ce-id"]
        if case .hmac(let signature) = callback.verification, let own = signature.id { names.insert(own, at: 0) }
        for name in names {
            if let id = push.value(name), !id.isEmpty, id.utf8.count <= 256 { return "\(name.lowercased()):\(id)" }
        }
        return "push:" + String(randomness.bits(), radix: 36) + String(randomness.bits(), radix: 36)
    }
}

extension JobSnapshot {
    /// Returns whether a push may still tell something to a step: it has not ended, or it has failed while its remote job goes
    /// on, which a retry asks for again.
    fileprivate func mayUsePush(for step: StepKey) -> Bool {
        guard let state = steps[step]?.state else { return false }
        if state.name == .failed { return submits[step]?.phase == .submitted }
        return ended == nil && !state.isEnded
    }
}
