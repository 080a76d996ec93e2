import PipelineDaemon

await DaemonProgram.main()
