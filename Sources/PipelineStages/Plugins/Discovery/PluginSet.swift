package import PipelineCore

/// The extensions of a document: kinds of stage, decorators and sinks.
package struct PluginSet: Sendable {
    package var stages: [StageKind] = []
    package var decorators: [DecoratorKind] = []
    package var sinks: [NotificationSinkKind] = []
    /// The names of all plugins for stages that are installed, whether the document means them or not.
    package var installedStages: [String] = []

    package init() {}
}
