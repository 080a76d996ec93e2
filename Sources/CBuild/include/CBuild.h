#ifndef PIPELINE_CBUILD_H
#define PIPELINE_CBUILD_H

// The commit that a release was built from, "development" in other builds; never freed.
const char *pipeline_build_commit(void);

#endif
