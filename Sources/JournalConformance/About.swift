// Is for: The promises of the journal's port, to be held against any journal.
//
// May be called by: Tests of journals, also of those that others write.
//
// Must not know: How any journal keeps them.
