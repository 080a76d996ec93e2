public import PipelineKit

/// The kinds that the programs of this package add to the built-in ones: stages, a decorator and a sink.
@Sendable public func registerStages(_ extensions: inout Extensions) {
    extensions.register(CountLines.kind)
    extensions.register(AppendFile.kind(network: extensions.network))
    extensions.register(ClientName.kind)
    extensions.register(LogFile.kind)
}
