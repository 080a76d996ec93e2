#include "CBuild.h"

#ifndef PIPELINE_COMMIT
#define PIPELINE_COMMIT development
#endif

#define TEXT(name) #name
#define QUOTED(name) TEXT(name)

const char *pipeline_build_commit(void) { return QUOTED(PIPELINE_COMMIT); }
