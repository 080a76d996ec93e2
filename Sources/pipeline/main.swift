import PipelineCommands

await PipelineCommands.main()
