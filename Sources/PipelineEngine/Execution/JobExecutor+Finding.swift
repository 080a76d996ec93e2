import PipelineCore

/// The answers that the law of a job wants, and those that calls of its stages may ask.
extension JobExecutor {
    func prepare(_ key: StepKey) async throws(JournalFailure) -> StepPreparation {
        guard let evaluator = evaluator(of: key) else { return .skipped }
        return try await evaluator.prepare(
            reading: snapshot.sources(of: key, evaluator.stage).compactMap { self.evaluator(of: $0) })
    }

    func items(of key: StepKey, elements: Bool) async throws(JournalFailure) -> Result<ForEachItems, AttemptFailure> {
        guard let evaluator = evaluator(of: key) else {
            return .success(ForEachItems(elements: [], concurrencyLimit: nil))
        }
        let items = try await evaluator.items(elements: elements)
        if case .success(let found) = items {
            secrets.hide(found.elements ?? [], of: evaluator.stage, in: state.table.plan)
        }
        return items
    }

    func evaluator(of key: StepKey) -> StepEvaluator? {
        guard let stage = state.table.plan.stage(key.stage) else { return nil }
        let step = snapshot.steps[key] ?? StepRecord()
        return StepEvaluator(
            key: key, stage: stage, step: step, values: state.table.values, clock: ports.clock, notes: notes
        ) { await self.host(for: key, stage, step) }
    }

    /// The engine's side of a call of the step's stage.
    func host(for key: StepKey, _ stage: PlannedStage, _ step: StepRecord) -> StepHost {
        let state = state
        let facts = StageFacts(
            of: key, stage, step, in: state, now: ports.clock.now, overwrites: options.overwrites,
            outlook: history.outlook(of: key, stage, in: state))
        return StepHost(
            facts: facts, itemLabel: state.table.snapshot.record.itemLabel, begin: state.table.moment,
            channel: channel(for: key), lease: writer.lease, document: state.table.plan.definition, ports: ports,
            redactor: redactor, notes: notes)
    }

    private func scope(for key: StepKey) -> Scope { state.table.scope(for: key) }

    /// The way back for a call of the step's stage.
    private func channel(for key: StepKey) -> StepChannel {
        StepChannel(
            scope: { await self.scope(for: key) },
            sealing: { await self.state.table.textSealing },
            submit: { await self.snapshot.submits[key] },
            callbacks: { await self.snapshot.pushes[key] ?? CallbackCount() },
            fingerprint: { await self.state.table.fingerprint(ofFileAt: $0) },
            told: { await self.state.table.facts(ofFileAt: $0, otherThan: $1) },
            trace: { await self.snapshot.facts.trace(ofFileAt: $0) },
            result: { await self.snapshot.writtenFile(at: $0) },
            save: { (report) async throws(StageFailure) in try await self.save(report, of: key) },
            renewSecrets: { await self.renewSecrets(since: $0) },
            post: { [mailbox] in mailbox.post($0) })
    }

    // MARK: Secrets

    /// Looks all secrets up; the first that is missing, as a sentence, or nil.
    func readSecrets() async -> String? {
        let (found, missing) = await secrets.read(
            of: snapshot.record, state.table.plan, known: state.table.values.secrets,
            inputs: state.table.values.secretInputs)
        state.table.values.secrets = found
        state.table.values.renewSealing(for: snapshot.steps, of: state.table.plan)
        secrets.hide(in: state.table)
        return missing
    }

    /// Looks the secrets up again; true when one is another than in those that were used.
    private func renewSecrets(since used: [String: String]) async -> Bool {
        let names = state.table.plan.secrets
        let renewed = await secrets.renew(names, known: state.table.values.secrets)
        state.table.values.secrets.merge(renewed) { $1 }
        redactor.add(renewed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        state.table.values.renewSealing(for: snapshot.steps, of: state.table.plan)
        return names.contains { state.table.values.secrets[$0] != used[$0] }
    }
}
