import JSONPath

/// A stage while it is being planned: read, its references collected, not yet checked against the others.
struct StageDraft {
    let definition: StageDefinition
    /// The stage before it in the array.
    let previous: String?
    var options: StageOptions?
    var kind: StageKind?
    var stage: AnyStage?
    var retry = RetryPolicy()
    /// References of `when` and the other common keys.
    var conditionUses: [ReferenceUse] = []
    /// References of its own configuration.
    var bodyUses: [ReferenceUse] = []
    var captures: [CaptureDeclaration] = []

    var uses: [ReferenceUse] { conditionUses + bodyUses }

    /// The stages whose captures it reads.
    var sources: [String] { uses.compactMap(\.sourceStage) }

    /// All stages that must have ended before it.
    var needs: [String] {
        let named = options?.needs ?? previous.map { [$0] } ?? []
        var seen: Set<String> = []
        return (named + sources).filter { $0 != definition.id && seen.insert($0).inserted }
    }

    func planned(by document: PipelineDefinition) -> PlannedStage? {
        guard let options, let kind, let stage else { return nil }
        let position = document.source.position(at: definition.place.node.range.start)
        return PlannedStage(
            id: definition.id, kind: definition.kind, stage: stage, needs: needs,
            reads: Set(bodyUses.filter { !$0.reference.toleratesNull }.compactMap(\.sourceStage)),
            condition: options.condition, continuesOnFailure: options.continuesOnFailure, retry: retry,
            deadline: options.deadline ?? document.defaults.deadline
                ?? kind.defaultDeadline.map(Setting.constant),
            keepsOwnDeadline: kind.keepsOwnDeadline, estimate: options.estimate, captures: captures,
            place: "\(document.source.name):\(position.line):\(position.column)")
    }
}

extension ReferenceUse {
    /// The stage whose capture is referred to.
    var sourceStage: String? { if case .capture(let stage, _) = reference.root { stage } else { nil } }
}
