import JSONPath

/// Reads the stages of a document, each by its kind.
struct StageDrafting {
    private let definition: PipelineDefinition
    private let catalogue: Catalogue
    private let findings: DiagnosticCollector
    private let services: [String: IndirectOptional<ServiceDefinition>]
    private let serviceNames: KnownNames

    init(definition: PipelineDefinition, catalogue: Catalogue, findings: DiagnosticCollector) {
        self.definition = definition
        self.catalogue = catalogue
        self.findings = findings
        services = Dictionary(
            definition.services.map { ($0.name, IndirectOptional(wrappedValue: $0)) },
            uniquingKeysWith: { first, _ in first })
        serviceNames = KnownNames(definition.services.map(\.name))
    }

    func drafts() -> [StageDraft] {
        var drafts: [StageDraft] = []
        drafts.reserveCapacity(definition.stages.count)
        for stage in definition.stages { drafts.append(draft(of: stage, after: drafts.last?.definition.id)) }
        return drafts
    }

    /// The stages of `finally`: none of them waits for another, the engine runs them in order.
    func finalDrafts() -> [StageDraft] {
        definition.finally.map { stage in
            let draft = draft(of: stage, after: nil)
            draft.isFinal = true
            return draft
        }
    }

    private func draft(of stage: StageDefinition, after previous: String?) -> StageDraft {
        let draft = StageDraft(definition: stage, previous: previous)
        let kind = kind(of: stage)
        let table = kind?.table ?? FieldTable(StageOptions.fields)
        guard let reader = ObjectReader(stage.place, table: table, findings: findings) else { return draft }
        let options = StageOptions.read(reader)
        draft.options = options
        let settingUses = share(findings.takeStageFindings().uses, of: reader, with: draft)
        draft.bodyUses = settingUses
        draft.retry = options.retry.over(definition.defaults.retry)
        // Which other keys an unknown kind may have nobody knows.
        guard let kind else { return draft }
        draft.kind = kind
        draft.stage = make(stage, kind, options, draft.retry.constants, reader)
        let found = findings.takeStageFindings()
        draft.bodyUses = settingUses + found.uses
        draft.checks = Self.checks(findings.takeChecks(), of: reader)
        draft.captures = found.captures
        return draft
    }

    /// The checks of a stage; those of what may never be used, or is a guess, do not keep it from its beginning.
    private static func checks(_ checks: [SettingCheck], of reader: ObjectReader) -> [SettingCheck] {
        let names = ["cancel", StageOptions.estimateField.name]
        let later = names.compactMap { reader.place(of: $0)?.node.range }
        return checks.map { check in
            var check = check
            check.isOfBeginning = !later.contains { $0.start <= check.range.start && check.range.start < $0.end }
            return check
        }
    }

    /// Gives a draft the references of its common keys that are of a sort of their own; returns those of all other keys,
    /// without which it can't begin, as without those of its own configuration.
    private func share(_ uses: [ReferenceUse], of reader: ObjectReader, with draft: StageDraft) -> [ReferenceUse] {
        if uses.isEmpty { return [] }
        func places(of names: String...) -> [SourceRange] { names.compactMap { reader.place(of: $0)?.node.range } }
        let elements = places(of: StageOptions.forEachField.name)
        let judged = places(
            of: StageOptions.conditionField.name, StageOptions.warnField.name, StageOptions.costField.name,
            StageOptions.expiresField.name)
        func stands(_ use: ReferenceUse, in ranges: [SourceRange]) -> Bool {
            let start = use.place.node.range.start
            return ranges.contains { $0.start <= start && start < $0.end }
        }
        draft.elementUses = uses.filter { stands($0, in: elements) }
        draft.conditionUses = uses.filter { stands($0, in: judged) }
        return uses.filter { !stands($0, in: elements) && !stands($0, in: judged) }
    }

    private func make(
        _ stage: StageDefinition, _ kind: StageKind, _ options: StageOptions, _ retry: RetryPolicy,
        _ reader: ObjectReader
    ) -> AnyStage? {
        let service = service(of: options, reader)
        let made = kind.make(
            StageReading(
                reader: reader, id: stage.id, sharedService: service,
                decorators: [
                    options.decorators, service.wrappedValue?.decorators ?? [], definition.defaults.decorators,
                ],
                retry: retry))
        if !kind.allowsOtherKeys { reader.finish() }
        return made
    }

    private func kind(of stage: StageDefinition) -> StageKind? {
        guard let name = stage.kind else { return nil }
        if let kind = catalogue.kinds[name] { return kind }
        let known = KnownNames(Set(catalogue.kinds.keys).union(catalogue.otherKinds).sorted())
        let meant = WordAlias.meaning(of: name, among: known.names).map { "did you mean '\($0)'?" }
        findings.report(
            stage.kindPlace, "there is no kind of stage called '\(name)'",
            hint: meant ?? known.hint(for: name, list: "kinds here:", none: "this program has no kinds at all"))
        return nil
    }

    private func service(of options: StageOptions, _ reader: ObjectReader) -> IndirectOptional<ServiceDefinition> {
        guard let name = options.service else {
            return IndirectOptional(wrappedValue: reader.has("service") ? .placeholder : nil)
        }
        if let service = services[name] { return service }
        // When `services` itself is wrong, that was reported.
        if !definition.hasUnreadableServices, let place = reader.place(of: "service") {
            findings.report(
                place, "there is no service called '\(name)'",
                hint: serviceNames.hint(
                    for: name, list: "services here:",
                    none: "add it: \"services\": { \"\(name)\": { \"url\": \"https://…\" } }"))
        }
        return IndirectOptional(wrappedValue: .placeholder)
    }
}
