// Is for: A connection to PostgreSQL by libpq, which is opened at run time.
//
// May be called by: PipelineJournal alone.
//
// Must not know: What a journal is: it knows statements and rows.
