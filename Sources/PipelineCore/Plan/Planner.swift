public import JSONPath

/// Makes a plan of a document: reads it, lets each kind read its configuration, and checks every reference.
public struct Planner {
    private let catalogue: Catalogue

    public init(catalogue: Catalogue) { self.catalogue = catalogue }

    /// The plan; throws all mistakes of the document at once.
    public func plan(_ source: SourceText) throws(DefinitionError) -> Plan {
        let findings = Findings(source: source)
        let definition = try PipelineDefinition.read(source, findings: findings)
        guard let definition else { throw DefinitionError(source: source, diagnostics: findings.diagnostics) }
        let documentUses = findings.takeStageFindings().uses
        let drafts = drafts(of: definition, findings: findings)
        checkUnreadDecorators(definition, findings)
        let check = ReferenceCheck(definition: definition, drafts: drafts, findings: findings)
        check.run(documentUses: documentUses)
        let ordered = StageOrder(drafts: drafts).sorted(reportingCyclesTo: findings)
        guard findings.diagnostics.isEmpty else {
            throw DefinitionError(source: source, diagnostics: findings.diagnostics)
        }
        let uses = documentUses + drafts.flatMap(\.uses)
        return Plan(
            definition: definition, stages: ordered.compactMap { $0.planned(by: definition) },
            secrets: Self.names(in: uses, Self.secretName),
            optionalSecrets: Set(Self.names(in: uses.filter(\.reference.toleratesNull), Self.secretName))
                .subtracting(Self.names(in: uses.filter { !$0.reference.toleratesNull }, Self.secretName)),
            environment: Self.names(in: uses) { if case .environment(let name) = $0 { name } else { nil } })
    }

    private static func secretName(_ root: Reference.Root) -> String? {
        if case .secret(let name) = root { name } else { nil }
    }

    private static func names(in uses: [ReferenceUse], _ name: (Reference.Root) -> String?) -> [String] {
        Set(uses.compactMap { name($0.reference.root) }).sorted()
    }

    private func drafts(of definition: PipelineDefinition, findings: Findings) -> [StageDraft] {
        var drafts: [StageDraft] = []
        for stage in definition.stages {
            drafts.append(draft(of: stage, after: drafts.last?.definition.id, in: definition, findings: findings))
        }
        return drafts
    }

    private func draft(
        of stage: StageDefinition, after previous: String?, in definition: PipelineDefinition, findings: Findings
    ) -> StageDraft {
        let kind = catalogue.kinds[stage.kind]
        if kind == nil {
            let guess = Suggestion.nearest(to: stage.kind, among: Array(catalogue.kinds.keys))
            findings.report(
                stage.kindPlace, "there is no kind of stage called '\(stage.kind)'",
                hint: guess.map { "did you mean '\($0)'?" }
                    ?? "known kinds: " + catalogue.kinds.keys.sorted().joined(separator: ", "))
        }
        let fields = StageOptions.fields + (kind?.fields ?? [])
        guard let reader = ObjectReader(stage.place, fields: fields, findings: findings) else {
            return StageDraft(definition: stage, previous: previous)
        }
        let options = StageOptions.read(reader)
        let conditionUses = findings.takeStageFindings().uses
        let service = service(of: options, in: definition, reader: reader)
        let retry = options.retry.policy(over: definition.defaults.retry)
        let made = kind?.make(
            StageReading(
                reader: reader, id: stage.id, service: service,
                decorators: [options.decorators, service?.decorators ?? [], definition.defaults.decorators],
                retry: retry))
        if kind != nil { reader.finish() }
        let found = findings.takeStageFindings()
        return StageDraft(
            definition: stage, previous: previous, options: options, kind: kind, stage: made, retry: retry,
            conditionUses: conditionUses, bodyUses: found.uses, captures: found.captures)
    }

    private func service(
        of options: StageOptions, in definition: PipelineDefinition, reader: ObjectReader
    ) -> ServiceDefinition? {
        guard let name = options.service else { return nil }
        if let service = definition.services.first(where: { $0.name == name }) { return service }
        if let place = reader.place(of: "service") {
            let names = definition.services.map(\.name)
            let guess = Suggestion.nearest(to: name, among: names)
            reader.findings.report(
                place, "there is no service called '\(name)'",
                hint: guess.map { "did you mean '\($0)'?" }
                    ?? (names.isEmpty
                        ? "add it to \"services\"" : "services here: " + names.joined(separator: ", ")))
        }
        return nil
    }

    /// A service that no stage names is read all the same, so that its mistakes are told.
    private func checkUnreadDecorators(_ definition: PipelineDefinition, _ findings: Findings) {
        for service in definition.services { catalogue.checkDecorators(service.decorators, findings) }
        catalogue.checkDecorators(definition.defaults.decorators, findings)
        _ = findings.takeStageFindings()
    }
}
