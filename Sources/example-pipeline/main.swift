import PipelineCommands

await PipelineCommands.main { extensions in
    extensions.register(CountLines.kind)
    extensions.register(AppendFile.kind(network: extensions.network))
}
