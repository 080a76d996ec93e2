// libarchive, and the numbers of the errors that it gives.
#ifndef PIPELINE_CARCHIVE_SHIM_H
#define PIPELINE_CARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#endif
