// SHA-256 with a state that can be kept and taken up again, which swift-crypto and OpenSSL's own EVP interface hide.
// These functions are deprecated in favour of EVP since OpenSSL 3.0 and documented still
// (https://docs.openssl.org/3.0/man3/SHA256_Init/); they use the processor's own instructions as EVP does. libcurl has
// the library in the process already.
#ifndef PIPELINE_COPENSSL_SHIM_H
#define PIPELINE_COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/sha.h>

static inline void copenssl_sha256_begin(SHA256_CTX *context) {
    (void)SHA256_Init(context);
}

// Goes on behind a number of whole blocks whose chaining value (FIPS 180-4, section 6.2) is given.
static inline void copenssl_sha256_go_on(SHA256_CTX *context, const unsigned int *words, unsigned long long bytes) {
    (void)SHA256_Init(context);
    for(int i = 0; i < 8; i++)
        context->h[i] = words[i];
    context->Nl = (SHA_LONG)(bytes << 3);
    context->Nh = (SHA_LONG)(bytes >> 29);
}

// The chaining value behind the last whole block.
static inline void copenssl_sha256_words(const SHA256_CTX *context, unsigned int *words) {
    for(int i = 0; i < 8; i++)
        words[i] = context->h[i];
}

static inline void copenssl_sha256_update(SHA256_CTX *context, const void *bytes, size_t count) {
    (void)SHA256_Update(context, bytes, count);
}

static inline void copenssl_sha256_end(SHA256_CTX *context, unsigned char *digest) {
    (void)SHA256_Final(digest, context);
}

#endif
