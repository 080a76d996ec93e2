// Is for: Pages of the jobs in a browser, over whichever journal it is.
//
// May be called by: The daemon and workers, which serve it.
//
// Must not know: How jobs are run: it reads the journal and starts commands.
