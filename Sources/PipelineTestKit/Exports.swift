@_exported public import PipelineSimulation
