#include "CSQLite.h"

#include <sqlite3.h>

void sqlite_stop_counting_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
