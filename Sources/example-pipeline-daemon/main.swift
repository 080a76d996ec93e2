import ExampleStages
import PipelineDaemon

await PipelineDaemon.main(extend: registerStages)
