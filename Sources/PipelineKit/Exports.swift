// Whoever writes a stage, a decorator or a sink needs the nouns of these modules; one import gives them all.
@_exported public import JSONPath
@_exported public import PipelineCore
@_exported public import PipelineHTTP
@_exported public import PipelineStages
