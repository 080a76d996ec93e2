// An executable of one's own has one import.
@_exported public import PipelineKit
