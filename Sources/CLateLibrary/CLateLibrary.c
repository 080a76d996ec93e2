#include "CLateLibrary.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int clate_open(struct clate_library *library) {
    if (library->handle) return 1;
    for (const char *const *name = library->names; *name; name++) {
        void *found = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (!found) continue;
        // A second thread finds the same library and counts it once more.
        library->handle = found;
        return 1;
    }
    return 0;
}

void *clate_function(struct clate_library *library, const char *name) {
    void *function = clate_open(library) ? dlsym(library->handle, name) : NULL;
    if (function) return function;
    fprintf(stderr, "%s of the library %s is needed, which this machine does not have\n", name, library->names[0]);
    abort();
}
