// Is for: Spans of jobs for a collector, made from the journal.
//
// May be called by: PipelineKit, which tells it of events.
//
// Must not know: How stages work, and who runs the collector.
