public import PipelineKit

/// The stage kinds that the programs of this package add to the built-in ones.
@Sendable public func registerStages(_ extensions: inout Extensions) {
    extensions.register(CountLines.kind)
    extensions.register(AppendFile.kind(network: extensions.network))
}
