import JSONPath
package import PipelineCore

extension Workspace {
    /// The services that take nothing now and that a batch asks: those to which requests of its plan go, by address and
    /// account, and those for which one of its items waits. None of a batch that has ended.
    ///
    /// Nobody is asked for a token or a secret: a service that only these tell apart is found by the items.
    package func closedServices(
        of batch: OwnedJob, in journal: Journal
    ) async throws(JournalFailure) -> [ClosedService] {
        guard batch.snapshot.ended == nil else { return [] }
        let closed = try await journal.closedServices()
        // The whole job: that of a list lacks what it was given.
        let query = JobQuery(prefix: batch.snapshot.record.id.text, limit: 1)
        guard !closed.isEmpty, let job = try await journal.jobs(query).first?.snapshot else { return [] }
        let services = ServicesOfBatch(job: job, plan: try? await plan(of: job.record))
        var asked: Set<ServiceID> = []
        if let key = try? hashKey(of: journal) {
            let secrets = SecretSources(file: [:], path: settings.secretsFile, environment: settings.environment)
            asked = Set(await services.accounts(secrets).map { ServiceID(key.hash(Array($0.utf8))) })
        }
        // Of several services of one name that are closed it waits for the one that it asks.
        let names = Set(closed.filter { asked.contains($0.id) }.map(\.name))
        let others = closed.filter { !names.contains($0.name) }
        if !others.isEmpty {
            let waits = try await services.waits(in: journal)
            asked.formUnion(others.filter { service in waits.contains { $0.mayBe(for: service) } }.map(\.id))
        }
        return closed.filter { asked.contains($0.id) }
    }
}

/// The services that a batch asks, as far as that is known without asking them.
private struct ServicesOfBatch {
    /// The wait of a step for a service that is closed.
    struct Wait {
        /// The service that its stage names; nil for none.
        let service: String?
        let detail: String?

        /// Returns whether it waits for a service of that name, or for a host that no document names.
        func mayBe(for closed: ClosedService) -> Bool {
            closed.name == service || detail?.hasPrefix("\(closed.name) ") == true
        }
    }

    let job: JobSnapshot
    /// Nil where this program does not know all that its document names.
    let plan: Plan?

    /// The most items that are looked at.
    private static let most = 64

    /// The origins and accounts of the requests of its plan.
    func accounts(_ secrets: SecretSources) async -> Set<String> {
        guard let plan else { return [] }
        let stages = plan.stages + plan.finally
        let captures = Dictionary(
            stages.map { ($0.id, $0.captures.map(\.name)) }, uniquingKeysWith: { first, _ in first })
        let inputs = (try? await SecretInputs(of: job.record, in: plan).values(secrets: secrets)) ?? [:]
        let known = job.documentScope(environment: job.environment, secretInputs: inputs)
        var scope = PreviewScope(known: known, secrets: [], captures: captures)
        scope.tellsAccounts = true
        for name in plan.secrets { scope.filled.secrets[name] = await secrets.secret(name) }
        // The rows have values of their own.
        for input in plan.definition.inputs where scope.filled.inputs[input.name] == nil {
            scope.filled.inputs[input.name] = .string("‹inputs.\(input.name)›")
        }
        var accounts: Set<String> = []
        for stage in stages {
            scope.show(captures[stage.id] ?? [])
            accounts.formUnion(await stage.stage.preview(scope).requests.compactMap(\.account))
        }
        return accounts
    }

    /// The waits of its items for services that are closed.
    func waits(in journal: Workspace.Journal) async throws(JournalFailure) -> [Wait] {
        var waits: [Wait] = []
        for item in try await journal.items(of: job.record.id, in: [.running], after: 0, limit: Self.most) {
            guard let id = item.job else { continue }
            let query = JobQuery(prefix: id.text, limit: 1, isBrief: true)
            for (key, step) in try await journal.jobs(query).first?.snapshot.steps ?? [:] {
                guard case .waiting(_, _, let reason) = step.state, reason.kind == .closed else { continue }
                waits.append(Wait(service: plan?.stage(key.stage)?.service, detail: reason.detail))
            }
        }
        return waits
    }
}
