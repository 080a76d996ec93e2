// Is for: Drives jobs: asks the law, commits, acts, publishes, in this order.
//
// May be called by: The commands and the background owner, through PipelineKit.
//
// Must not know: kinds of stages, HTTP, SQLite.
