package import JSONPath

/// Makes a plan of a document: reads it, lets each kind read its configuration, and checks every reference.
package struct Planner {
    private let catalogue: Catalogue

    package init(catalogue: Catalogue) { self.catalogue = catalogue }

    /// The plan; throws all mistakes of the document at once, those of its syntax among them.
    ///
    /// - Parameter isBegun: true for the document of a job that was begun: it goes on by the rules of its time, and what is
    ///   a mistake only since then is a warning.
    package func plan(_ source: SourceText, isBegun: Bool = false) throws(DefinitionError) -> Plan {
        let findings = DiagnosticCollector(source: source, sinks: catalogue.sinks, isBegun: isBegun)
        let definition = PipelineDefinition.read(source, findings: findings)
        guard let definition else { throw DefinitionError(source: source, diagnostics: findings.diagnostics) }
        checkDecorators(of: definition, findings)
        let documentUses = findings.takeStageFindings().uses
        let documentChecks = findings.takeChecks()
        let drafting = StageDrafting(definition: definition, catalogue: catalogue, findings: findings)
        let drafts = drafting.drafts()
        let finals = drafting.finalDrafts()
        let check = ReferenceCheck(definition: definition, drafts: drafts + finals, findings: findings)
        check.run(documentUses: documentUses)
        let inputUses = InputUseCheck(definition: definition, findings: findings)
        let targets = RepeatedTargetCheck(findings: findings)
        for draft in drafts + finals {
            inputUses.run(draft)
            targets.run(draft)
        }
        let ordered = StageOrder(drafts: drafts, broken: check.broken).sorted(reportingCyclesTo: findings)
        guard findings.diagnostics.isEmpty else {
            throw DefinitionError(source: source, diagnostics: findings.diagnostics)
        }
        let names = StageDraft.namesRead(by: documentUses, in: drafts + finals)
        let expiring = Set((drafts + finals).filter { $0.options?.expires != nil }.map(\.definition.id))
        func planned(_ draft: StageDraft) -> PlannedStage? {
            PlannedStage(
                draft, by: definition, namesRead: names[draft.definition.id, default: NamesRead()], expiring: expiring)
        }
        return Plan(
            definition: definition, stages: ordered.compactMap(planned), finally: finals.compactMap(planned),
            uses: ([documentUses] + (drafts + finals).map(\.uses)).joined(), checks: documentChecks,
            warnings: findings.warnings,
            fetchedInputs: Dictionary(
                uniqueKeysWithValues: (drafts + finals).map { ($0.definition.id, $0.fetchedInputs(of: definition)) }),
            namesFiles: findings.namesFiles)
    }

    /// What stands around stages is checked where it stands: so a service that no stage names is checked too, and what
    /// it reads may not be more than a service knows.
    private func checkDecorators(of definition: PipelineDefinition, _ findings: DiagnosticCollector) {
        for service in definition.services { catalogue.checkDecorators(service.decorators, findings) }
        catalogue.checkDecorators(definition.defaults.decorators, findings)
        for notification in definition.notifications {
            if case .webhook(let webhook) = notification.sink {
                catalogue.checkDecorators(webhook.decorators, findings)
            }
        }
    }
}
