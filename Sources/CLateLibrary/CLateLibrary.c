#include "CLateLibrary.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// OPENSSL_INIT_NO_ATEXIT of openssl/crypto.h.
static const uint64_t no_exit_handler = 0x00080000;

void clate_spare_exit(void *handle) {
    int (*begin)(uint64_t, const void *) = dlsym(handle, "OPENSSL_init_crypto");
    if (begin) (void)begin(no_exit_handler, NULL);
}

int clate_open(struct clate_library *library) {
    if (library->handle) return 1;
    for (const char *const *name = library->names; *name; name++) {
        void *found = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (!found) continue;
        clate_spare_exit(found);
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
