// Is for: Tells people and programs what became of a job.
//
// May be called by: The engine, through the port of sinks.
//
// Must not know: who asks it to, and when.
