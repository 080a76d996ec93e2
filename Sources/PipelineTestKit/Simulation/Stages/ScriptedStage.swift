import JSONPath
package import PipelineCore

/// A stage whose work is a closure; its checkpoint is a text.
package struct ScriptedStage: Stage {
    package typealias Context = StageContext<String>
    package typealias Outcome = StageOutcome<String>
    /// Goes on from the checkpoint, as ``Stage/resume(from:in:)`` does.
    package typealias Script = @Sendable (String?, Context) async throws(StageFailure) -> Outcome

    private let script: Script
    private let cancellation: @Sendable (String?, Context) async throws(StageFailure) -> Void

    package init(
        cancel: @escaping @Sendable (String?, Context) async throws(StageFailure) -> Void = { _, _ in },
        _ script: @escaping Script
    ) {
        self.script = script
        cancellation = cancel
    }

    package func resume(from checkpoint: String?, in context: Context) async throws(StageFailure) -> Outcome {
        try await script(checkpoint, context)
    }

    package func cancel(from checkpoint: String?, in context: Context) async throws(StageFailure) {
        try await cancellation(checkpoint, context)
    }
}

extension CheckpointCoding where Checkpoint == String {
    /// The text's own bytes.
    package static var text: CheckpointCoding {
        CheckpointCoding(encode: { Array($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
    }
}

extension StageKind {
    /// A kind whose stages do what a script says. `reading` is a key of its own that is read as any JSON with
    /// expressions: the script is given it.
    package static func scripted(
        _ name: String, captures: [String] = [], keepsOwnDeadline: Bool = false, work: BackgroundWork = .local,
        standsAlone: (@Sendable (String) -> Bool)? = nil,
        cancel: @escaping @Sendable (String?, ScriptedStage.Context) async throws(StageFailure) -> Void = { _, _ in },
        _ script:
            @escaping @Sendable (JSONTemplate?, String?, ScriptedStage.Context) async throws(StageFailure)
            -> ScriptedStage.Outcome
    ) -> StageKind {
        let field = Field("reading", FieldType<JSONTemplate>.json(), "What the script is given.")
        return StageKind(
            name: name, summary: "A scripted stage.", fields: [field], keepsOwnDeadline: keepsOwnDeadline
        ) { reading in
            let template = reading.reader.optional(field)
            reading.declare(captures.map { CaptureDeclaration(name: $0) })
            let stage = ScriptedStage(cancel: cancel) { checkpoint, context throws(StageFailure) in
                try await script(template, checkpoint, context)
            }
            return AnyStage(stage, coding: .text, work: work, standsAlone: standsAlone)
        }
    }
}
