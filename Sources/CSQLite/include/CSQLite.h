#ifndef C_SQLITE_H
#define C_SQLITE_H

// Calls of SQLite that Swift can't make, since they take any number of arguments.

/// SQLite counts the memory that it takes under a lock of the whole process, some thousand times for a small job; nobody
/// reads the count (SQLITE_CONFIG_MEMSTATUS, https://sqlite.org/c3ref/c_config_covering_index_scan.html). Only before
/// the first database is opened; later it does nothing.
void sqlite_stop_counting_memory(void);

#endif
