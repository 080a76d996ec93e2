import PipelineDaemon

await PipelineDaemon.main()
