import JSONPath

/// A checked pipeline: every reference is known to lead somewhere, and each stage is made. It never changes, and all that
/// work on a job hand it on: one reference, not all its members'.
package final class Plan: Sendable {
    package let definition: PipelineDefinition
    /// The stages in an order in which each comes after all that it needs.
    package let stages: [PlannedStage]
    /// The stages that run, one after the other, when the job has ended.
    package let finally: [PlannedStage]
    private let names: ReferencedNames
    /// The warnings of what is most likely a mistake of the document, though it can be run.
    package let warnings: DiagnosticReport
    /// The inputs of type url that stages need as files, by stage: fetched before a stage reads them.
    package let fetchedInputs: [String: [String]]
    /// True if the document names local files by itself, besides those that inputs give.
    package let namesFiles: Bool
    /// Values of the document itself that expressions give, to be checked once they are known.
    let checks: [SettingCheck]
    private let positions: [String: Int]

    init(
        definition: PipelineDefinition, stages: [PlannedStage], finally: [PlannedStage],
        uses: some Sequence<ReferenceUse>, checks: [SettingCheck], warnings: [Diagnostic],
        fetchedInputs: [String: [String]], namesFiles: Bool
    ) {
        self.namesFiles = namesFiles
        self.fetchedInputs = fetchedInputs
        self.warnings = DiagnosticReport(source: definition.source, diagnostics: warnings)
        self.definition = definition
        self.checks = checks
        self.stages = stages
        self.finally = finally
        positions = Dictionary(
            (stages + finally).enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        names = ReferencedNames(uses)
    }

    /// Every secret that the document names, in order of the alphabet.
    package var secrets: [String] { names.secrets.sorted() }
    /// Those of them that may be missing: each reference does without, such as `secrets.TOKEN ?? 'demo'`.
    package var optionalSecrets: Set<String> { names.secrets.subtracting(names.neededSecrets) }
    /// Every environment variable that it names, in order of the alphabet.
    package var environment: [String] { names.environment.sorted() }
    /// Those of them of which something is null where they are not set, in order of the alphabet: a value is theirs alone. What
    /// inputs are without a value is told of these.
    package var neededEnvironment: [String] { names.neededEnvironment.sorted() }
    /// True if a request can't do without the address for pushes to its stage.
    package var handsOutCallbackURL: Bool { names.needsCallbackURL }

    /// The stage and all stages that need it, directly or through others.
    package func dependents(of id: String) -> Set<String> {
        // In the plan's order a stage comes after all that it needs.
        stages.reduce(into: [id]) { found, stage in
            if stage.needs.contains(where: found.contains) { found.insert(stage.id) }
        }
    }

    /// Returns whether the items of a stage with `forEach` are made from inputs and the document alone: from no answer.
    package func hasOwnItems(_ id: String) -> Bool {
        switch stage(id)?.forEach {
        case .elements(let expression):
            expression.references.allSatisfy { reference in
                switch reference.root {
                case .input, .environment, .job: true
                default: false
                }
            }
        case .items(let followed, _): hasOwnItems(followed)
        case nil: false
        }
    }

    /// The secret that the elements are made of over which a stage is repeated, the first that `forEach` names; nil for
    /// none.
    package func elementSecret(of stage: PlannedStage) -> String? {
        guard case .elements(let expression) = stage.forEach else { return nil }
        return expression.references.lazy.compactMap { $0.root.secretName(in: self.definition) }.first
    }

    /// The stage of that id.
    package func stage(_ id: String) -> PlannedStage? {
        positions[id].map { $0 < stages.count ? stages[$0] : finally[$0 - stages.count] }
    }
}

extension Reference.Root {
    /// The name under which its value is hidden, of a secret or an input that is one.
    package func secretName(in definition: PipelineDefinition) -> String? {
        switch self {
        case .secret(let name): name
        case .input(let name): definition.inputs.contains { $0.name == name && $0.isSecret } ? name : nil
        default: nil
        }
    }
}

/// The secrets and environment variables that references name.
private struct ReferencedNames: Sendable {
    var secrets: Set<String> = []
    /// Those that some reference can't do without.
    var neededSecrets: Set<String> = []
    /// True if some reference can't do without `self.callbackURL`.
    var needsCallbackURL = false
    var environment: Set<String> = []
    /// Those that are the whole value of some expression, but for those of inputs.
    var neededEnvironment: Set<String> = []

    init(_ uses: some Sequence<ReferenceUse>) {
        for use in uses {
            switch use.reference.root {
            case .secret(let name):
                secrets.insert(name)
                if !use.reference.toleratesNull { neededSecrets.insert(name) }
            case .environment(let name):
                environment.insert(name)
                if use.reference.isWhole, !use.place.pointer.hasPrefix("/inputs/") { neededEnvironment.insert(name) }
            case .callbackURL: if !use.reference.toleratesNull { needsCallbackURL = true }
            default: break
            }
        }
    }
}
