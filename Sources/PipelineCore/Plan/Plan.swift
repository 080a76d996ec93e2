import JSONPath

/// A checked pipeline: every reference is known to lead somewhere, and each stage is made.
public struct Plan: Sendable {
    public let definition: PipelineDefinition
    /// The stages in an order in which each comes after all that it needs.
    public let stages: [PlannedStage]
    /// The stages that run, one after the other, when the job has ended.
    public let finally: [PlannedStage]
    /// Every secret that the document names, in order of the alphabet.
    public let secrets: [String]
    /// Those of them that may be missing: each reference does without, such as `secrets.TOKEN ?? 'demo'`.
    public let optionalSecrets: Set<String>
    /// Every environment variable that it names.
    public let environment: [String]
    private let positions: [String: Int]

    init(
        definition: PipelineDefinition, stages: [PlannedStage], finally: [PlannedStage], uses: [ReferenceUse]
    ) {
        self.definition = definition
        self.stages = stages
        self.finally = finally
        positions = Dictionary(
            (stages + finally).enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let named = ReferencedNames(uses)
        secrets = named.secrets.sorted()
        optionalSecrets = named.secrets.subtracting(named.neededSecrets)
        environment = named.environment.sorted()
    }

    /// The stage and all stages that need it, directly or through others.
    public func dependents(of id: String) -> Set<String> {
        // In the plan's order a stage comes after all that it needs.
        stages.reduce(into: [id]) { found, stage in
            if stage.needs.contains(where: found.contains) { found.insert(stage.id) }
        }
    }

    /// Whether the items of a stage with `forEach` are made from inputs and the document alone: from no answer.
    public func hasOwnItems(_ id: String) -> Bool {
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

    /// The stage of that id.
    public func stage(_ id: String) -> PlannedStage? {
        positions[id].map { $0 < stages.count ? stages[$0] : finally[$0 - stages.count] }
    }
}

/// A stage with everything that the job machine decides from.
public struct PlannedStage: Sendable {
    public let id: String
    public let kind: String
    public let stage: AnyStage
    /// The stages that must have ended before it: those it names, those it reads from, else the one before it.
    public let needs: [String]
    /// Of them those whose being skipped skips this one: it reads their captures and can't do without.
    public let reads: Set<String>
    /// The captures that it can't do without, by stage; nil for a name that is computed.
    let readCaptures: [String: Set<String?>]
    public let condition: Expression?
    /// What it is repeated over; nil for a stage that runs once.
    public let forEach: ForEachDefinition?
    /// How many of its items run at a time; 4 when nothing is said.
    public let concurrency: Setting<Int>?
    public let warnings: [WarnDefinition]
    /// Whether it runs when the job has ended: it may read every capture, and its failure changes nothing.
    public let isFinal: Bool
    public let continuesOnFailure: Setting<Bool>
    /// Its own `retry` over the document's.
    public let retries: RetryDefinition
    public let deadline: Setting<Duration>?
    public let keepsOwnDeadline: Bool
    public let estimate: Setting<Duration>?
    /// Until when its captures are good.
    public let expires: ExpiryDefinition?
    /// The stage that is run again for fresh captures; one of `needs`.
    public let renews: String?
    /// Whether running it again for fresh captures asks after what it began, instead of beginning it anew.
    public let keepsSubmit: Bool
    /// Whether it also waits for a good moment when no person waits.
    public let isDiscretionary: Bool
    /// The tokens that its requests fetch, each by the text of its configuration: a service answers with one before
    /// it answers with anything else.
    public let tokens: [String]
    /// The captures that it makes.
    public let captures: [CaptureDeclaration]
    let source: SourceText
    let offset: Int

    /// Whether it reads that capture of a stage, as far as its text tells.
    public func reads(_ capture: String, of source: String) -> Bool {
        readCaptures[source].map { $0.contains(capture) || $0.contains(nil) } ?? false
    }

    /// When a failed try is repeated, as far as that is known without values of expressions.
    public var retry: RetryPolicy { retries.constants }

    /// Whether `when` speaks of one item of a `forEach`; else it is judged once, for the whole stage.
    public var conditionReadsItem: Bool {
        forEach != nil && condition?.references.contains { $0.root == .item || $0.root == .index } == true
    }

    /// Where it stands in the document: `FILE:LINE:COLUMN`. Found when it is asked for, which is rare.
    public var place: String {
        let position = source.position(at: offset)
        return "\(source.name):\(position.line):\(position.column)"
    }
}

/// The secrets and environment variables that references name.
private struct ReferencedNames {
    var secrets: Set<String> = []
    /// Those that some reference can't do without.
    var neededSecrets: Set<String> = []
    var environment: Set<String> = []

    init(_ uses: [ReferenceUse]) {
        for use in uses {
            switch use.reference.root {
            case .secret(let name):
                secrets.insert(name)
                if !use.reference.toleratesNull { neededSecrets.insert(name) }
            case .environment(let name): environment.insert(name)
            default: break
            }
        }
    }
}
