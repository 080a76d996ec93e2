// SQLite of the system, and the calls of it that Swift can't make: those with any number of arguments, and those with
// a function that is a number.
#ifndef PIPELINE_CSQLITE_SHIM_H
#define PIPELINE_CSQLITE_SHIM_H

#include <sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "SQLite 3.37 or newer is needed, for STRICT tables"
#endif

/// Configures SQLite for the whole process (https://sqlite.org/c3ref/c_config_covering_index_scan.html). Only before the
/// first database is opened; later it does nothing.
///
/// SQLITE_CONFIG_MEMSTATUS: it counts the memory that it takes under a lock, some thousand times for a small job; nobody
/// reads the count. SQLITE_CONFIG_STMTJRNL_SPILL: it keeps the pages that a savepoint changed, to bring them back; with
/// more than 64 KiB of them it made a file in each transaction that many jobs share. What it kept until then it writes in
/// one piece, and a piece must be shorter than 128 KiB (`seekAndWriteFd` of os_unix.c): it takes a longer one for a full
/// disk.
static inline void csqlite_configure(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 120 << 10);
}

/// Binds a text in UTF-8 that SQLite copies (https://sqlite.org/c3ref/bind_blob.html). A null pointer binds the empty text.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds bytes that SQLite copies. A null pointer binds the empty blob.
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

#endif
