// Where libarchive is found and linked from; what is called of it is declared by CArchive.
#ifndef PIPELINE_CLIBARCHIVE_SHIM_H
#define PIPELINE_CLIBARCHIVE_SHIM_H

#include <archive.h>
#include <archive_entry.h>

#endif
