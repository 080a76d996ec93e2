package import PipelineCore

extension StageKind {
    /// Returns the same kind, with something done before each call that goes on with a stage of it.
    package func noting(_ note: @escaping @Sendable (StageFacts) -> Void) -> StageKind {
        StageKind(
            name: name, summary: summary, fields: fields, defaultDeadline: defaultDeadline,
            keepsOwnDeadline: keepsOwnDeadline, keepsSubmit: keepsSubmit, allowsOtherKeys: allowsOtherKeys,
            constraints: constraints()
        ) { make($0)?.noting(note) }
    }
}
