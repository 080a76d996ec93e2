import ExampleStages
import PipelineCommands

await PipelineCommands.main(extend: registerStages)
