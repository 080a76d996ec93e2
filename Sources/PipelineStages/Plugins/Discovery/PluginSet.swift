public import PipelineCore

/// What a document can be extended with: kinds of stage, decorators and sinks.
public struct PluginSet: Sendable {
    public var stages: [StageKind] = []
    public var decorators: [DecoratorKind] = []
    public var sinks: [NotificationSinkKind] = []

    public init() {}
}
