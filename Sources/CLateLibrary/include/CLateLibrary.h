// Libraries of the system that are opened by the first call which needs them, not by the start of each program.
//
// What a command never calls costs it neither time nor memory then: libcurl alone brings some thirty libraries along.
#ifndef PIPELINE_CLATELIBRARY_H
#define PIPELINE_CLATELIBRARY_H

// A library, and the names that it may have (dlopen(3)), NULL behind the last one.
struct clate_library {
    const char *const *names;
    void *_Atomic handle;
};

// Has OpenSSL, if the library that was opened brings it along, set no exit handler; to be called before anything of the
// library. The handler frees OpenSSL's tables while other threads may still use them: one of a transport that closes its
// connections, or any that ends and so lets go of what OpenSSL keeps for it
// (https://docs.openssl.org/3.0/man3/OPENSSL_init_crypto/).
void clate_spare_exit(void *handle);

// Opens the library if it is not yet; it is never closed. 0 when the machine has it by none of its names.
int clate_open(struct clate_library *library);

// The library's function of that name (dlsym(3)). Says so and ends the process when there is none: who can do without
// asks clate_open() first.
void *clate_function(struct clate_library *library, const char *name);

// What `library` has under the name of a function that is declared, of its type; looked up once.
#define CLATE_FOUND(library, name)                                                                                     \
    ({                                                                                                                 \
        static void *_Atomic known;                                                                                    \
        if (!known) known = clate_function(&library, #name);                                                           \
        (__typeof__(&name))known;                                                                                      \
    })

#endif
