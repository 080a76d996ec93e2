// Is for: SQLite with typed statements, transactions and migrations.
//
// May be called by: The journal and the response cache.
//
// Must not know: what is stored in it.
