// Is for: A stage of one's own, as the guides show it.
//
// May be called by: The two example programs.
//
// Must not know: Anything that PipelineKit does not give to authors.
