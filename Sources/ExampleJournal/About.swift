// Is for: A journal of one's own, as the guide shows it.
//
// May be called by: The example program.
//
// Must not know: Anything that PipelineKit does not give to authors.
