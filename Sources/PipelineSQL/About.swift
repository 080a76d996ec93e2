// Is for: What rows and parameters of SQL are, for both databases.
//
// May be called by: PipelineSQLite, PipelinePostgres and PipelineJournal.
//
// Must not know: Which database it is, and what the rows mean.
