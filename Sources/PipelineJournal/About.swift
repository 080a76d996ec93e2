// Is for: The memory of jobs, and of responses, in SQLite, or in PostgreSQL for many machines.
//
// May be called by: The engine and the commands, through the port of PipelineCore.
//
// Must not know: what a stage means.
