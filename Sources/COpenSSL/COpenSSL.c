#include "COpenSSL.h"
#include "CLateLibrary.h"

#include <openssl/opensslv.h>
#include <stddef.h>

// The version that was compiled with: SHA256_CTX is the caller's memory.
#define TEXT(number) EXPANDED(number)
#define EXPANDED(number) #number
#ifdef __APPLE__
static const char *const names[] = {"libcrypto." TEXT(OPENSSL_SHLIB_VERSION) ".dylib", NULL};
#else
static const char *const names[] = {"libcrypto.so." TEXT(OPENSSL_SHLIB_VERSION), NULL};
#endif

static struct clate_library library = {names, NULL};

#define FOUND(name) CLATE_FOUND(library, name)

void copenssl_sha256_begin(SHA256_CTX *context) { (void)FOUND(SHA256_Init)(context); }

void copenssl_sha256_go_on(SHA256_CTX *context, const unsigned int *words, unsigned long long bytes) {
    (void)FOUND(SHA256_Init)(context);
    for (int i = 0; i < 8; i++) context->h[i] = words[i];
    context->Nl = (SHA_LONG)(bytes << 3);
    context->Nh = (SHA_LONG)(bytes >> 29);
}

void copenssl_sha256_words(const SHA256_CTX *context, unsigned int *words) {
    for (int i = 0; i < 8; i++) words[i] = context->h[i];
}

void copenssl_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    (void)FOUND(SHA256_Update)(context, bytes, count);
}

void copenssl_sha256_end(SHA256_CTX *context, unsigned char *digest) { (void)FOUND(SHA256_Final)(digest, context); }
